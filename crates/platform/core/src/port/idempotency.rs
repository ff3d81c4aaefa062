//! Stored answers of idempotency keys.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::StoreResult;

/// The answer given to a request with an idempotency key, kept for 24 h.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// UUID of the caller's API key or user. Idempotency keys of different callers are independent.
    pub caller: Uuid,
    /// The `Idempotency-Key`.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// Status code answered.
    pub status: u16,
    /// Body answered.
    pub body: String,
    /// `ETag` answered, without its quotes.
    pub tag: Option<String>,
    /// When it was answered.
    pub at: Timestamp,
}

/// Stored answers. A stored answer never changes; it is deleted when it expires.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// The answer given to a caller's idempotency key.
    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
    /// Stores the answer of a write that is not a [`Change`](super::Change).
    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()>;
    /// Deletes at most `limit` answers given before `before`; returns their number.
    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
