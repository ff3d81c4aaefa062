//! NoticeReceiver to other processes: there are none that serve from the same store.

use async_trait::async_trait;
use platform_core::port::{NodeNotices, Notifications, StoreResult};

use super::SqliteStore;

#[async_trait]
impl NodeNotices for SqliteStore {
    async fn broadcast(&self, _: &str) -> StoreResult<()> {
        Ok(())
    }

    fn notifications(&self) -> Option<Notifications> {
        None
    }
}
