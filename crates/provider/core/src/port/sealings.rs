//! Sealed values: the keys that sealed them, and resealing with a new key.

use async_trait::async_trait;
use kit_runtime::vault::Sealed;

use super::StoreResult;
use crate::model::{Endpoint, Id};

/// Rotation of the sealing key.
#[async_trait]
pub trait SealingStore: Send + Sync {
    /// One sealed text for each key that may have sealed a value in this store, in no order; none in a new store.
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>>;
    /// Replaces all sentinels with `new`. Error: `Conflict` when the stored sentinels differ from `old`, in any order.
    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()>;
    /// Endpoints of all applications by id, after `after`.
    async fn all_endpoints(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// For each pair (old, new): stores the secret, old secrets and headers of `new`, if the endpoint still has those
    /// of `old`. Nothing else changes: no event is written and the application's `version` stays. Returns the number
    /// changed.
    async fn reseal_endpoints(&self, endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize>;
    /// Users of all accounts with the secrets of their second factors, by id, after `after`.
    async fn all_second_factors(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<(Id, Sealed)>>;
    /// For each user, old and new secret: stores the new secret if the user still has the old one. Nothing else
    /// changes. Returns the number changed.
    async fn reseal_second_factors(&self, secrets: Vec<(Id, Sealed, Sealed)>) -> StoreResult<usize>;
}
