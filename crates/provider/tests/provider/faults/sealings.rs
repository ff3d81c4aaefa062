//! Calls about sealed texts, handed on.

use async_trait::async_trait;
use provider::model::{Endpoint, Id};
use provider::port::{SealingStore, StoreResult};
use runtime::vault::Sealed;

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
