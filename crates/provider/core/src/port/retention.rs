//! Letting go of what was kept long enough, or is to be forgotten at once.
//!
//! Each call touches at most `limit` rows and is a transaction of its own, so that deliveries go on between two of them.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

/// What an attempt's response is replaced with.
pub const EXPUNGED: &str = "EXPUNGED";

/// Forgetting.
#[async_trait]
pub trait RetentionStore {
    /// Removes a message's payload; false when the message is not there. The application's `purges` rise, so that nobody sends what
    /// was read before; what waits of the message is due `now`, so that it is found to have none and keeps nothing waiting.
    async fn expunge_payload(&self, application: &str, message: &str, now: Timestamp) -> StoreResult<bool>;
    /// The same for the application's messages with ids between these two, looking at `limit` messages at most: the number of
    /// payloads, and the message that was looked at last, none when there is none.
    async fn expunge_payloads(
        &self,
        application: &str,
        after: &str,
        before: &str,
        limit: usize,
        now: Timestamp,
    ) -> StoreResult<(usize, Option<Id>)>;
    /// Replaces an attempt's response with [`EXPUNGED`]; false when it is not there.
    async fn expunge_response(&self, application: &str, message: &str, attempt: &str) -> StoreResult<bool>;

    /// Removes payloads that were to be kept until `now` at most and for less time than their messages; the number of
    /// them. What waits of such a message is due `now`, as when its payload is expunged.
    async fn expunge_expired_payloads(&self, now: Timestamp, limit: usize) -> StoreResult<usize>;
    /// Removes attempts to deliver messages with ids before this one, whenever they were made; the number of them.
    async fn delete_old_attempts(&self, before_message: &str, limit: usize) -> StoreResult<usize>;
    /// Removes messages with ids before this one, and what still waits of any such message; the number of messages.
    async fn delete_old_messages(&self, before_message: &str, limit: usize) -> StoreResult<usize>;
}
