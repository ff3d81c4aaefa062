//! NoticeReceiver to other nodes, with NOTIFY on a channel of their own.

use async_trait::async_trait;
use platform_core::port::{NodeNotices, Notifications, StoreResult};

use super::PostgresStore;
use super::rows::SqlError;

#[async_trait]
impl NodeNotices for PostgresStore {
    async fn broadcast(&self, notice: &str) -> StoreResult<()> {
        Ok(self.postgres.broadcast(notice).await.map_err(SqlError::from)?)
    }

    fn notifications(&self) -> Option<Notifications> {
        Some(Notifications::new(self.postgres.notifications()))
    }
}
