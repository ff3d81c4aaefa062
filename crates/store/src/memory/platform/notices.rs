//! Notices to other processes: there are none that serve from the same store.

use ::platform::port::{Noticeboard, Notices, StoreResult};
use async_trait::async_trait;

use super::Memory;

#[async_trait]
impl Noticeboard for Memory {
    async fn tell(&self, _: &str) -> StoreResult<()> {
        Ok(())
    }

    fn notices(&self) -> Option<Notices> {
        None
    }
}
