//! Operational events: events about the provider itself, which an account may receive as webhooks.
//!
//! An event is a row, written in the transaction of the change that it reports, and only when the account has an
//! operational application ([`crate::operational::hidden_account`]). Without one, an event costs nothing. The account
//! of an operational application has no such application itself, so nothing about that application is reported.

use async_trait::async_trait;
use bytes::Bytes;

use super::StoreResult;
use crate::model::Id;

/// The operational event that an attempt causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AttemptEvent {
    /// No event.
    #[default]
    None,
    /// `message.attempt.failing`: the fourth attempt failed, and more will follow.
    Failing,
    /// `message.attempt.exhausted`: the last attempt failed.
    Exhausted,
    /// `message.attempt.recovered`: an attempt succeeded after `failing`.
    Recovered,
}

/// An event that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationalEvent {
    /// Unique number. A later event about the same endpoint has a greater number.
    pub no: i64,
    /// The account that receives the event.
    pub account: Id,
    /// Event type name.
    pub event_type: String,
    /// JSON object.
    pub payload: Bytes,
}

/// Unsent operational events. These methods of the other traits insert them: `create_endpoint`, `replace_endpoint`,
/// `delete_endpoint`, `delete_application`, and `record_attempts` (for [`AttemptEvent`] and for endpoints that it
/// disables).
#[async_trait]
pub trait OperationalEventStore: Send + Sync {
    /// The earliest unsent events, at most `limit`.
    async fn operational_events(&self, limit: usize) -> StoreResult<Vec<OperationalEvent>>;
    /// Deletes events that were accepted as messages.
    async fn delete_operational_events(&self, numbers: Vec<i64>) -> StoreResult<()>;
}
