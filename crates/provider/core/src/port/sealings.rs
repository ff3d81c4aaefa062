//! What is sealed: knowing with which keys, and sealing it again.

use async_trait::async_trait;
use kit_runtime::vault::Sealed;

use super::StoreResult;
use crate::model::{Endpoint, Id};

/// Part of [`super::Store`]: what a change of keys takes.
#[async_trait]
pub trait SealingStore: Send + Sync {
    /// One text for each key that may have sealed something here, in no order of meaning; none in a new store.
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>>;
    /// Puts `new` in the place of all sentinels. `Stale` when they are not `old` any more, in whatever order.
    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()>;
    /// Endpoints of all applications by their ids.
    async fn all_endpoints(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// Takes secret, old secrets and headers of each second endpoint for those of the first, if it has them still. Nobody is
    /// told, nothing else changes, and its application is not another than before. How many were changed.
    async fn reseal_endpoints(&self, endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize>;
}
