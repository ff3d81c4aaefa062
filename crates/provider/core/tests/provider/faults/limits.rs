//! What is made only while there is room, over a faulty store.

use async_trait::async_trait;
use provider_core::model::{BackgroundTask, Endpoint};
use provider_core::port::{IdempotentAnswer, LimitStore, StoreResult};

use super::{Fault, Faulty};

#[async_trait]
impl LimitStore for Faulty {
    async fn create_endpoint_within(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        if self.fault == Fault::ConcurrentInsert && self.is_faulted("create_endpoint_within") {
            let (id, description) = ("ep_beaten".into(), "theirs".into());
            let other = Endpoint { id, description, ..endpoint.clone() };
            self.store.create_endpoint_within(other, endpoints_max, None).await?;
        }
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
