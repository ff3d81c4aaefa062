//! Event types of an account.

use async_trait::async_trait;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::EventType;

/// Event types, including archived ones.
#[async_trait]
pub trait EventTypeStore: Send + Sync {
    /// Adds an event type. Errors: `Taken("name")` when the account has one of that name, archived or not; `Replayed`.
    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// The account's event type with this name.
    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>>;
    /// An account's event types by name.
    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>>;
    /// The number of the account's event types, counted up to `count_max`.
    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize>;
    /// Replaces the event types with these names, or creates them: all of them or none. Error: `Replayed`.
    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// Compares the stored event type with `old` and replaces it with `new`, which has the same name, in one
    /// transaction. Errors: `Conflict` when the stored event type differs from `old`, `NotFound`.
    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()>;
    /// Deletes an event type. False when the account has none of that name.
    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool>;
}
