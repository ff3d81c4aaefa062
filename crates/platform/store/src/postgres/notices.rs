//! Notices to other nodes, with NOTIFY on a channel of their own.

use async_trait::async_trait;
use platform_core::port::{Noticeboard, Notices, StoreResult};

use super::Shared;
use super::rows::Fault;

#[async_trait]
impl Noticeboard for Shared {
    async fn tell(&self, notice: &str) -> StoreResult<()> {
        Ok(self.postgres.tell(notice).await.map_err(Fault::from)?)
    }

    fn notices(&self) -> Option<Notices> {
        Some(Notices::new(self.postgres.notices()))
    }
}
