//! Notices to other processes: there are none that serve from the same store.

use ::platform::port::{Noticeboard, Notices, StoreResult};
use async_trait::async_trait;

use super::Sqlite;

#[async_trait]
impl Noticeboard for Sqlite {
    async fn tell(&self, _: &str) -> StoreResult<()> {
        Ok(())
    }

    fn notices(&self) -> Option<Notices> {
        None
    }
}
