//! API keys after they were made.

use std::collections::BTreeMap;

use ::platform::port::{ApiKey, ApiKeys, Page, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Memory, slice};

#[async_trait]
impl ApiKeys for Memory {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        Ok(self.tables().access.api_keys.values().find(|key| key.uuid == uuid).cloned())
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        let tables = self.tables();
        let theirs = |key: &&ApiKey| customer.is_none() || key.customer == customer;
        let in_order: BTreeMap<Uuid, &ApiKey> =
            tables.access.api_keys.values().filter(theirs).map(|key| (key.uuid, key)).collect();
        Ok(slice(in_order.into_iter(), page))
    }

    async fn revoke_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let mut tables = self.tables();
        if let Some(key) = tables.access.api_keys.values_mut().find(|key| key.uuid == uuid) {
            key.revoked_at.get_or_insert(at);
        }
        Ok(())
    }
}
