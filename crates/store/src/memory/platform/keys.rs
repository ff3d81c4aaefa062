//! Keys of the platform's API, looked after.

use ::platform::port::{ApiKey, Keys, Page, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::Memory;

#[async_trait]
impl Keys for Memory {
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>> {
        Ok(self.tables().access.api_keys.values().find(|key| key.uuid == uuid).cloned())
    }

    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>> {
        let tables = self.tables();
        let theirs = |key: &&ApiKey| customer.is_none() || key.customer == customer;
        let later = |key: &&ApiKey| page.after.is_none_or(|after| key.uuid > after);
        let mut keys: Vec<ApiKey> = tables.access.api_keys.values().filter(theirs).filter(later).cloned().collect();
        keys.sort_unstable_by_key(|key| key.uuid);
        keys.truncate(page.limit);
        Ok(keys)
    }

    async fn end_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        if let Some(key) = self.tables().access.api_keys.values_mut().find(|key| key.uuid == uuid) {
            key.expires_at = Some(key.expires_at.map_or(at, |before| before.min(at)));
        }
        Ok(())
    }
}
