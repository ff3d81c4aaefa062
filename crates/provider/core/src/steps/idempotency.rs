//! Idempotency keys: a request that is repeated with the same `idempotency-key` within 12 hours receives the first
//! response again, and changes nothing.
//!
//! The response is stored in the same transaction as the write, with a hash of the request. A different request with
//! the same key is rejected. The response is looked up only when the write fails because the key exists, so a new
//! request costs no look-up.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::port::{Answer, IdempotentAnswer, Store, StoreError};

const KEY_BYTES_MAX: usize = 256;
/// How long a response is stored.
pub(crate) const ANSWER_RETENTION: SignedDuration = SignedDuration::from_hours(12);
/// Number of attempts of a write with a key that expires at the same time.
pub(crate) const TRIES_MAX: usize = 3;
/// Expired responses that one store call deletes.
pub(crate) const DELETE_MAX: usize = 10_000;

/// The `idempotency-key` of a POST, with the hash of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    key: String,
    request_hash: [u8; 32],
}

/// The stored response to the first request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// HTTP status code.
    pub status: u16,
    /// JSON text.
    pub body: String,
}

impl Idempotency {
    /// Makes an idempotency key from the header's value and its request; `path` has no trailing slash. 400 when the key
    /// is empty, longer than 256 bytes or not printable ASCII.
    pub fn new(key: &str, method: &str, path: &str, body: &[u8]) -> ProviderResult<Self> {
        if key.is_empty() || key.len() > KEY_BYTES_MAX || !key.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(ProviderError::BadRequest {
                code: "invalid_idempotency_key",
                detail: format!("an idempotency key is 1 to {KEY_BYTES_MAX} printable characters"),
            });
        }
        let mut hash = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update(body);
        Ok(Self { key: key.to_owned(), request_hash: hash.finalize().into() })
    }

    /// Adds a part of the request that is not in its body to the hash.
    #[must_use]
    pub fn with(self, part: &str) -> Self {
        let request_hash = Sha256::new().chain_update(self.request_hash).chain_update(part).finalize().into();
        Self { request_hash, ..self }
    }

    /// The response in the form that the store keeps.
    pub(crate) fn answer(&self, caller: &Caller, answer: Answer, at: Timestamp) -> IdempotentAnswer {
        IdempotentAnswer {
            account: caller.account.clone(),
            key: self.key.clone(),
            request_hash: self.request_hash,
            answer,
            at,
        }
    }

    /// The response to the first request. None when it has expired: the caller then writes again.
    pub(crate) async fn look_up(
        &self,
        store: &dyn Store,
        caller: &Caller,
        now: Timestamp,
    ) -> ProviderResult<Option<Answer>> {
        let Some(stored) = store.idempotent_answer(&caller.account, &self.key).await? else { return Ok(None) };
        let kept_since = now - ANSWER_RETENTION;
        if stored.at < kept_since {
            store.delete_expired_answers(kept_since, DELETE_MAX).await?;
            return Ok(None);
        }
        if stored.request_hash != self.request_hash {
            return Err(ProviderError::IdempotencyMismatch);
        }
        Ok(Some(stored.answer))
    }
}

/// The result of a write with an idempotency key.
pub(crate) enum IdempotentWrite {
    /// The write was committed now.
    Done,
    /// The first request committed the write, and received this response.
    Replayed(StoredAnswer),
}

/// Runs a write, and stores its response (`status` and `body`) for the idempotency key. If the key exists, looks up the
/// first response instead.
pub(crate) async fn write<F>(
    store: &dyn Store,
    caller: &Caller,
    idempotency: Option<&Idempotency>,
    now: Timestamp,
    status: u16,
    body: impl FnOnce() -> String,
    mut attempt: impl FnMut(Option<IdempotentAnswer>) -> F,
) -> ProviderResult<IdempotentWrite>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let Some(idempotency) = idempotency else {
        attempt(None).await?;
        return Ok(IdempotentWrite::Done);
    };
    let answer = idempotency.answer(caller, Answer::Body { status, body: body() }, now);
    for _ in 0..TRIES_MAX {
        match attempt(Some(answer.clone())).await {
            Ok(()) => return Ok(IdempotentWrite::Done),
            Err(StoreError::Replayed) => match idempotency.look_up(store, caller, now).await? {
                Some(Answer::Body { status, body }) => {
                    return Ok(IdempotentWrite::Replayed(StoredAnswer { status, body }));
                }
                // The request hash covers the path, so a response of another kind belongs to another request.
                Some(Answer::Message { .. }) => return Err(ProviderError::IdempotencyMismatch),
                None => {}
            },
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::Replayed.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_differ_by_method_path_and_body() {
        let hash =
            |method, path, body: &str| Idempotency::new("k", method, path, body.as_bytes()).unwrap().request_hash;
        let one = hash("POST", "/api/v1/app", "{}");
        assert_eq!(one, hash("POST", "/api/v1/app", "{}"));
        for other in
            [hash("PUT", "/api/v1/app", "{}"), hash("POST", "/api/v1/ap", "p{}"), hash("POST", "/api/v1/app", "{ }")]
        {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_key_is_short_and_printable() {
        for (key, valid) in [("auto_1", true), ("", false), ("a\nb", false), ("é", false), (&*"k".repeat(257), false)]
        {
            assert_eq!(Idempotency::new(key, "POST", "/", b"").is_ok(), valid, "{key:?}");
        }
    }
}
