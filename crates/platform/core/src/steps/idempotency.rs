//! Idempotent writes: a repeated request gets the first answer.
//!
//! A surface that received an `Idempotency-Key` passes an [`IdempotentRequest`]. The use case looks the key up before
//! it does anything, and stores the answer in the transaction of the write. A repeated request therefore gets the first
//! answer, through any crash.

use uuid::Uuid;

use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::port::IdempotentAnswer;

/// A write with an idempotency key, and how to render its answer.
pub struct IdempotentRequest<'a, T> {
    /// The caller; see `Caller::id`.
    pub caller: Uuid,
    /// The `Idempotency-Key`.
    pub key: &'a str,
    /// SHA-256 over method, path and body.
    pub request_hash: [u8; 32],
    /// Status code of the answer when the write succeeds.
    pub status: u16,
    /// Renders the answer's body. It is called before the commit and must be deterministic.
    pub render: &'a (dyn Fn(&T) -> String + Sync),
    /// Renders the answer's `ETag` without its quotes; none for an answer without one.
    pub tag: &'a (dyn Fn(&T) -> Option<String> + Sync),
}

impl<T> Clone for IdempotentRequest<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for IdempotentRequest<'_, T> {}

impl<T> IdempotentRequest<'_, T> {
    /// The answer to store with the write.
    pub(crate) fn answer(&self, result: &T, at: jiff::Timestamp) -> IdempotentAnswer {
        IdempotentAnswer {
            caller: self.caller,
            key: self.key.to_owned(),
            request_hash: self.request_hash,
            status: self.status,
            body: (self.render)(result),
            tag: (self.tag)(result),
            at,
        }
    }
}

/// The outcome of a write that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The write was done now.
    Fresh(T),
    /// The write was done before with the same idempotency key; the stored answer.
    Replayed(IdempotentAnswer),
}

impl<T> Outcome<T> {
    /// The result of a write without an idempotency key, which is always fresh.
    pub fn fresh(self) -> PlatformResult<T> {
        match self {
            Self::Fresh(result) => Ok(result),
            Self::Replayed(_) => Err(PlatformError::Internal("an answer was replayed without a key".into())),
        }
    }
}

impl Platform {
    /// The answer given to this key before, if it is younger than 24 h; `IdempotencyMismatch` when the request differs.
    pub async fn replay<T>(
        &self,
        answering: Option<&IdempotentRequest<'_, T>>,
    ) -> PlatformResult<Option<IdempotentAnswer>> {
        let Some(answering) = answering else { return Ok(None) };
        let (caller, key, hash) = (answering.caller, answering.key, answering.request_hash);
        let Some(answer) = self.store().idempotent_answer(caller, key).await? else { return Ok(None) };
        if answer.request_hash != hash {
            return Err(PlatformError::IdempotencyMismatch);
        }
        Ok(Some(answer))
    }

    /// The stored answer of a request that arrived twice at the same time.
    pub(crate) async fn replayed<T>(&self, answering: Option<&IdempotentRequest<'_, T>>) -> PlatformResult<Outcome<T>> {
        self.replay(answering).await?.map(Outcome::Replayed).ok_or(PlatformError::Busy)
    }

    /// Stores the answer of a call that commits nothing, such as a call to a provider or a dry run.
    pub async fn keep_answer<T>(&self, answering: Option<&IdempotentRequest<'_, T>>, result: &T) -> PlatformResult<()> {
        let Some(answer) = answering.map(|answering| answering.answer(result, self.now())) else { return Ok(()) };
        Ok(self.store().keep_answer(answer).await?)
    }
}
