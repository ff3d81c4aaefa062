//! Answers stored for idempotency keys.
//!
//! A write that takes an `Option<IdempotentAnswer>` stores the answer in its own transaction. If the key was used
//! before, the write changes nothing and returns [`super::StoreError::Replayed`].

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

/// The answer to a request with an idempotency key, stored for 12 hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// The caller's account. The same key of two accounts is two keys.
    pub account: Id,
    /// The `idempotency-key` header.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// The answer itself.
    pub answer: Answer,
    /// When the request was answered.
    pub at: Timestamp,
}

/// What a request was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// 202 with this message. Its payload is not stored a second time.
    Message {
        /// The application.
        application: Id,
        /// The message.
        message: Id,
    },
    /// This status and body.
    Body {
        /// HTTP status code.
        status: u16,
        /// JSON text.
        body: String,
    },
}

/// Stored answers. The writes of the other traits insert them.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// The answer stored for this key of this account.
    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
    /// Deletes at most `limit` answers given before `before`; returns the number deleted.
    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
