//! Event types of an account.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::{EventType, UnknownEventType};

/// Maximum number of an account's rows of event types that are not registered.
pub const UNKNOWN_EVENT_TYPES_MAX: usize = 1_000;

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
    /// Adds messages of event types that are not registered, and deletes rows of these accounts whose last message is
    /// older than `forget_before`. An account has at most [`UNKNOWN_EVENT_TYPES_MAX`] rows; further ones are dropped.
    /// Creating an event type deletes its rows.
    async fn record_unknown_event_types(
        &self,
        counted: Vec<UnknownEventType>,
        forget_before: Timestamp,
    ) -> StoreResult<()>;
    /// An account's event types that are not registered, the latest first.
    async fn unknown_event_types(&self, account: &str, limit: usize) -> StoreResult<Vec<UnknownEventType>>;
}
