//! Sealed values: which keys have sealed them, and sealing them again under a new key.

use async_trait::async_trait;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::{Page, StoreResult};

/// Where a sealed text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealedLocation {
    /// The provider API key of this customer's connection.
    Connection(Uuid),
    /// The answer to this caller's idempotency key.
    Answer {
        /// Who asked.
        caller: Uuid,
        /// The idempotency key.
        key: String,
    },
    /// The secret of this user's second factor.
    Totp(Uuid),
}

/// A kept answer that is sealed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedAnswer {
    /// Who asked.
    pub caller: Uuid,
    /// The idempotency key.
    pub key: String,
    /// Its body.
    pub body: Sealed,
}

/// A text to be put in the place of another that says the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedReplacement {
    /// Where.
    pub location: SealedLocation,
    /// The value when it was read.
    pub old: Sealed,
    /// The new value.
    pub new: Sealed,
}

/// Sealed values and the sentinels of the sealing keys.
#[async_trait]
pub trait SealingStore: Send + Sync {
    /// One text for each key that may have sealed something here, in no order of meaning; none in a new store.
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>>;
    /// Puts `new` in the place of all sentinels. `Conflict` when they are not `old` any more, in whatever order.
    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()>;
    /// Sealed answers by caller and key.
    async fn sealed_answers(&self, page: Page<(Uuid, String)>) -> StoreResult<Vec<SealedAnswer>>;
    /// Puts each new text in the place of the old one, if that is still there; nothing else changes. How many were.
    async fn reseal(&self, texts: Vec<SealedReplacement>) -> StoreResult<usize>;
}
