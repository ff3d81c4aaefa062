//! Responses that are stored for idempotency keys.
//!
//! A write with an `Option<IdempotentAnswer>` stores the response in its transaction. If the key was used before, the
//! write changes nothing and returns [`super::StoreError::Replayed`].

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

/// The response to a request with an idempotency key, stored for 12 hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    /// The caller's account. Accounts do not share keys.
    pub account: Id,
    /// The `idempotency-key` header.
    pub key: String,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// The response.
    pub answer: Answer,
    /// When the response was sent.
    pub at: Timestamp,
}

/// A response.
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

/// Stored responses. The writes of the other traits insert them.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// The stored response for this key of this account.
    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>>;
    /// Deletes at most `limit` responses that were sent before `before`; returns the number deleted.
    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
