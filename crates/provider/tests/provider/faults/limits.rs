//! What is made only while there is room, over a faulty store: only handed on.

use async_trait::async_trait;
use provider::model::{BackgroundTask, Endpoint};
use provider::port::{IdempotentAnswer, LimitStore, StoreResult};

use super::Faulty;

#[async_trait]
impl LimitStore for Faulty {
    async fn create_endpoint_within(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.store.create_endpoint_within(endpoint, endpoints_max, answer).await
    }

    async fn create_task_within(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.store.create_task_within(task, running_max, answer).await
    }
}
