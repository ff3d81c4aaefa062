//! Expunging payloads and responses on request, and deleting rows after their retention.
//!
//! Each call changes at most `limit` rows in one transaction, so that deliveries continue between two calls.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

/// The text that replaces an expunged response.
pub const EXPUNGED: &str = "EXPUNGED";

/// Expunge and retention.
#[async_trait]
pub trait RetentionStore: Send + Sync {
    /// Removes a message's payload. False when the application has no such message.
    ///
    /// The application's `purges` is incremented, so that no node sends a payload that it read before. Waiting delivery
    /// rows of the message become due `now`, so that the dispatcher finds that the payload is missing and deletes the
    /// deliveries.
    async fn expunge_payload(&self, application: &str, message: &str, now: Timestamp) -> StoreResult<bool>;
    /// Removes the payloads of the application's messages with ids between `after` and `before`, of at most `limit`
    /// messages. Returns the number of removed payloads and the last message read, if any.
    async fn expunge_payloads(
        &self,
        application: &str,
        after: &str,
        before: &str,
        limit: usize,
        now: Timestamp,
    ) -> StoreResult<(usize, Option<Id>)>;
    /// Replaces an attempt's response with [`EXPUNGED`]. False when the message has no such attempt.
    async fn expunge_response(&self, application: &str, message: &str, attempt: &str) -> StoreResult<bool>;
    /// Removes payloads whose retention ended at or before `now` and is shorter than that of their messages; returns
    /// the number. Waiting delivery rows of such a message become due `now`, as after
    /// [`RetentionStore::expunge_payload`].
    async fn expunge_expired_payloads(&self, now: Timestamp, limit: usize) -> StoreResult<usize>;
    /// Deletes attempts of messages with ids before this one, whatever the time of the attempt; returns the number.
    async fn delete_old_attempts(&self, before_message: &str, limit: usize) -> StoreResult<usize>;
    /// Deletes messages with ids before this one, and their delivery rows; returns the number of messages.
    async fn delete_old_messages(&self, before_message: &str, limit: usize) -> StoreResult<usize>;
}
