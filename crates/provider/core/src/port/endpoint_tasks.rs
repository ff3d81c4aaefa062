//! The background tasks of one endpoint, for those who look after it.

use async_trait::async_trait;

use super::{Page, StoreResult};
use crate::model::BackgroundTask;

/// Part of [`super::Store`].
#[async_trait]
pub trait EndpointTaskStore: Send + Sync {
    /// An endpoint's tasks by id.
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>>;
}
