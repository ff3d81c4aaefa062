//! What is sealed: with which keys, and sealing it again.

use std::collections::BTreeMap;

use ::provider::model::{Endpoint, Id};
use ::provider::port::{SealingStore, StoreError, StoreResult};
use async_trait::async_trait;
use runtime::vault::Sealed;

use super::Memory;
use super::lists::key;
use crate::sealings::same_texts;

#[async_trait]
impl SealingStore for Memory {
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>> {
        Ok(self.tables().sentinels.clone())
    }

    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()> {
        let mut tables = self.tables();
        if !same_texts(&tables.sentinels, &old) {
            return Err(StoreError::Stale);
        }
        tables.sentinels = new;
        Ok(())
    }

    async fn all_endpoints(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let tables = self.tables();
        let in_order: BTreeMap<&Id, &Endpoint> =
            tables.config.endpoints.values().map(|endpoint| (&endpoint.id, endpoint)).collect();
        let wanted = in_order.into_iter().filter(|(id, _)| after.as_ref().is_none_or(|after| *id > after));
        Ok(wanted.take(limit).map(|(_, endpoint)| endpoint.clone()).collect())
    }

    async fn reseal_endpoints(&self, endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize> {
        let kept = &mut self.tables().config.endpoints;
        let mut count = 0;
        for (old, new) in endpoints {
            let as_seen = |kept: &&mut Endpoint| {
                (&kept.secret, &kept.old_secrets, &kept.headers) == (&old.secret, &old.old_secrets, &old.headers)
            };
            if let Some(kept) = kept.get_mut(&key(&old.application, &old.id)).filter(as_seen) {
                (kept.secret, kept.old_secrets, kept.headers) = (new.secret, new.old_secrets, new.headers);
                count += 1;
            }
        }
        Ok(count)
    }
}
