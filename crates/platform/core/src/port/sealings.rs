//! Sealed values: which keys have sealed them, and sealing them again under a new key.

use async_trait::async_trait;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::{Page, StoreResult};

/// Location of a sealed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealedLocation {
    /// The provider API key of this customer's connection.
    Connection(Uuid),
    /// The answer to this caller's idempotency key.
    Answer {
        /// The caller.
        caller: Uuid,
        /// The idempotency key.
        key: String,
    },
    /// The secret of this user's second factor.
    Totp(Uuid),
}

/// A stored answer whose body is sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedAnswer {
    /// The caller.
    pub caller: Uuid,
    /// The idempotency key.
    pub key: String,
    /// Its body.
    pub body: Sealed,
}

/// A sealed value and its replacement with the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedReplacement {
    /// Location.
    pub location: SealedLocation,
    /// The value when it was read.
    pub old: Sealed,
    /// The new value.
    pub new: Sealed,
}

/// Sealed values and the sentinels of the sealing keys.
#[async_trait]
pub trait SealingStore: Send + Sync {
    /// One sentinel for each key that may have sealed a value, in any order; none in a new store.
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>>;
    /// Replaces all sentinels by `new`. `Conflict` when they are not `old` any more, in any order.
    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()>;
    /// Sealed answers by caller and key.
    async fn sealed_answers(&self, page: Page<(Uuid, String)>) -> StoreResult<Vec<SealedAnswer>>;
    /// Replaces each old value that is unchanged by the new one; returns the number of replaced values.
    async fn reseal(&self, texts: Vec<SealedReplacement>) -> StoreResult<usize>;
}
