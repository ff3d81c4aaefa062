//! Calls about sealed texts, handed on.

use async_trait::async_trait;
use kit_runtime::vault::Sealed;
use provider_core::model::{Endpoint, Id};
use provider_core::port::{SealingStore, StoreResult};

use super::Faulty;

#[async_trait]
impl SealingStore for Faulty {
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>> {
        self.store.sentinels().await
    }

    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()> {
        self.store.replace_sentinels(old, new).await
    }

    async fn all_endpoints(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>> {
        self.store.all_endpoints(after, limit).await
    }

    async fn reseal_endpoints(&self, endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize> {
        self.store.reseal_endpoints(endpoints).await
    }
}
