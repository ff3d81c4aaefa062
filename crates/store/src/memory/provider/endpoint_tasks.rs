//! The background tasks of one endpoint.

use ::provider::model::BackgroundTask;
use ::provider::port::{EndpointTaskStore, Page, StoreResult};
use async_trait::async_trait;

use super::Memory;
use super::lists::{self, Owned, key};

#[async_trait]
impl EndpointTaskStore for Memory {
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let tables = self.tables();
        let own = tables.background.tasks.values().filter(|task| *task.endpoint == *endpoint);
        let own: Owned<BackgroundTask> = own.map(|task| (key(endpoint, &task.id), task.clone())).collect();
        Ok(lists::slice(&own, endpoint, &page))
    }
}
