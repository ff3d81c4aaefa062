//! Events about the provider's own doings, which an account may have sent to it as webhooks.
//!
//! An event is a row, written in the transaction of what it is about, and only when the account has an operational
//! application ([`crate::operational::hidden_account`]): what nobody listens to costs nothing. That application's account
//! has no such application itself, so nothing is ever told of it.

use async_trait::async_trait;
use bytes::Bytes;

use super::StoreResult;
use crate::model::Id;

/// What an account is told of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AttemptEvent {
    /// Nothing.
    #[default]
    None,
    /// `message.attempt.failing`: the fourth attempt failed, and there will be more.
    Failing,
    /// `message.attempt.exhausted`: the last attempt failed.
    Exhausted,
    /// `message.attempt.recovered`: it succeeded after `failing`.
    Recovered,
}

/// An event that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationalEvent {
    /// Unique for ever; later events of one thing have a greater one.
    pub no: i64,
    /// The account that is told.
    pub account: Id,
    /// Event type name.
    pub event_type: String,
    /// JSON object.
    pub payload: Bytes,
}

/// The part of [`super::Store`] about operational events. The other methods of the store write them:
/// `create_endpoint`, `update_endpoint`, `delete_endpoint`, and `record_attempts` for notices and for endpoints that it
/// disables.
#[async_trait]
pub trait OperationalStore: Send + Sync {
    /// The earliest events that are not settled, at most `limit`.
    async fn operational_events(&self, limit: usize) -> StoreResult<Vec<OperationalEvent>>;
    /// Drops events: they are messages now.
    async fn delete_operational_events(&self, numbers: Vec<i64>) -> StoreResult<()>;
}
