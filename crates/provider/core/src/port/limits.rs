//! What is made only while there is room for it.

use async_trait::async_trait;

use super::{IdempotentAnswer, StoreResult};
use crate::model::{BackgroundTask, Endpoint};

/// Part of [`super::Store`].
///
/// Each call counts and makes in one transaction, of which there is one at a time for what is counted together: however many
/// are made at the same time, on however many nodes, the limit holds. A key that was used before is `Replayed` before
/// anything is counted.
#[async_trait]
pub trait LimitStore: Send + Sync {
    /// As [`super::Store::create_endpoint`]. `Full` when its application has `endpoints_max` already.
    async fn create_endpoint_within(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// As [`super::TaskStore::create_task`]. `Full` when so many of its account are running.
    async fn create_task_within(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
}
