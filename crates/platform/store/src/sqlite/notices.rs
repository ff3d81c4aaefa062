//! Notices to other processes: there are none that serve from the same store.

use async_trait::async_trait;
use platform_core::port::{Noticeboard, Notices, StoreResult};

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
