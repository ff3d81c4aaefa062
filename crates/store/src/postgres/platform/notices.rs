//! Notices to other nodes, with NOTIFY on a channel of their own.

use ::platform::port::{Noticeboard, Notices, StoreResult};
use async_trait::async_trait;

use super::Shared;

#[async_trait]
impl Noticeboard for Shared {
    async fn tell(&self, notice: &str) -> StoreResult<()> {
        Ok(self.postgres.tell(notice).await?)
    }

    fn notices(&self) -> Option<Notices> {
        Some(Notices::new(self.postgres.notices()))
    }
}
