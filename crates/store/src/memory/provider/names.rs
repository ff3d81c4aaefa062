//! Applications and endpoints by uid alone.

use ::provider::model::{Application, Endpoint, Id};
use ::provider::port::StoreResult;
use ::provider::port::supervision::Names;
use async_trait::async_trait;

use super::Memory;

#[async_trait]
impl Names for Memory {
    async fn applications_of_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        let tables = self.tables();
        let named = tables.config.applications.values().filter(|application| application.uid.as_deref() == Some(uid));
        let mut found: Vec<Application> = named.cloned().collect();
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found.truncate(limit);
        Ok(found)
    }

    async fn endpoints_of_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        let tables = self.tables();
        let named = tables.config.endpoints.values().filter(|endpoint| endpoint.uid.as_deref() == Some(uid));
        let mut found: Vec<(Id, Endpoint)> =
            named.filter_map(|endpoint| tables.endpoint_anywhere(&endpoint.id)).collect();
        found.sort_by(|(_, one), (_, other)| one.id.cmp(&other.id));
        found.truncate(limit);
        Ok(found)
    }
}
