//! Calls of the faulty store that are only handed on.

use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, EventType, Id};
use provider_core::port::{
    ApplicationExclusion, ConfigurationStore, CountStore, EndpointCounts, IdempotentAnswer, Page, StoreResult,
};

use super::Faulty;

#[async_trait]
impl ConfigurationStore for Faulty {
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        self.store.replace_application(old, new).await
    }

    async fn replace_endpoint(
        &self,
        old: Endpoint,
        new: Endpoint,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.store.replace_endpoint(old, new, answer).await
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        self.store.replace_event_type(old, new).await
    }

    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.store.upsert_event_types(event_types, answer).await
    }

    async fn applications_except(
        &self,
        account: &str,
        exclude: &[ApplicationExclusion],
        page: Page,
    ) -> StoreResult<Vec<Application>> {
        self.store.applications_except(account, exclude, page).await
    }
}

#[async_trait]
impl CountStore for Faulty {
    async fn endpoint_counts(
        &self,
        endpoint: &str,
        attempts: Range<Id>,
        messages: Range<Id>,
        limit: usize,
    ) -> StoreResult<Option<EndpointCounts>> {
        self.store.endpoint_counts(endpoint, attempts, messages, limit).await
    }
}
