//! What those who run the provider ask goes through.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Application, Attempt, Endpoint, Id};
use provider_core::port::StoreResult;
use provider_core::port::supervision::{
    Due, EndpointStates, Names, Overview, Pause, Pauses, TaskCount, WaitingFor, WaitingRows,
};

use super::Faulty;

#[async_trait]
impl Overview for Faulty {
    async fn longest_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<Due>> {
        self.store.longest_due(now, limit).await
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        self.store.endpoint_states().await
    }

    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>> {
        self.store.task_counts().await
    }
}

#[async_trait]
impl Pauses for Faulty {
    async fn note_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()> {
        self.store.note_pause(pause, now).await
    }

    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>> {
        self.store.pauses(since, now, limit).await
    }

    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        self.store.paused_until(endpoint, now).await
    }
}

#[async_trait]
impl WaitingRows for Faulty {
    async fn waiting_for(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingFor> {
        self.store.waiting_for(endpoint, now, count_max).await
    }

    async fn hasten(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.hasten(endpoint, now, limit).await
    }

    async fn forgive(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        self.store.forgive(endpoint, now).await
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        self.store.waiting_messages(endpoint, before, limit).await
    }

    async fn give_up(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        self.store.give_up(endpoint, attempts).await
    }
}

#[async_trait]
impl Names for Faulty {
    async fn applications_of_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        self.store.applications_of_uid(uid, limit).await
    }

    async fn endpoints_of_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        self.store.endpoints_of_uid(uid, limit).await
    }
}
