//! What those who run the provider ask goes through.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Application, Attempt, Endpoint, Id};
use provider_core::port::StoreResult;
use provider_core::port::supervision::{
    DueEndpoint, EndpointStates, InstallationStore, Pause, PauseStore, TaskCount, UidLookupStore, WaitingCounts,
    WaitingDeliveryStore,
};

use super::Faulty;

#[async_trait]
impl InstallationStore for Faulty {
    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>> {
        self.store.longest_due_endpoints(now, limit).await
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        self.store.endpoint_states().await
    }

    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>> {
        self.store.task_counts().await
    }
}

#[async_trait]
impl PauseStore for Faulty {
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()> {
        self.store.save_pause(pause, now).await
    }

    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>> {
        self.store.pauses(since, now, limit).await
    }

    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        self.store.paused_until(endpoint, now).await
    }
}

#[async_trait]
impl WaitingDeliveryStore for Faulty {
    async fn waiting_counts(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingCounts> {
        self.store.waiting_counts(endpoint, now, count_max).await
    }

    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.make_retries_due(endpoint, now, limit).await
    }

    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        self.store.reset_endpoint_pause(endpoint, now).await
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        self.store.waiting_messages(endpoint, before, limit).await
    }

    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        self.store.cancel_deliveries(endpoint, attempts).await
    }
}

#[async_trait]
impl UidLookupStore for Faulty {
    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        self.store.applications_by_uid(uid, limit).await
    }

    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        self.store.endpoints_by_uid(uid, limit).await
    }
}
