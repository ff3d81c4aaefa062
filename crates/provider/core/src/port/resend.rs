//! Delivering a message once more because somebody asks for it.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{IdempotentAnswer, StoreResult};
use crate::model::Id;

/// A message to be delivered once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resend {
    /// The application.
    pub application: Id,
    /// The message.
    pub message: Id,
    /// The endpoint, whether or not it wanted the message.
    pub endpoint: Id,
}

/// When a row that is to be resent is due: before all others.
pub const RESEND_DUE: Timestamp = Timestamp::UNIX_EPOCH;

/// Resending.
#[async_trait]
pub trait ResendStore {
    /// Makes the delivery row of this message and endpoint a manual one, due at once and before others, or adds it.
    ///
    /// A row that waits takes one manual attempt in place of its scheduled one. A row that a node has takes it after the
    /// attempt that is under way, whatever comes of that. Errors: `NotFound` (message or endpoint), `Replayed`.
    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
}
