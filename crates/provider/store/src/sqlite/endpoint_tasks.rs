//! The background tasks of one endpoint.

use async_trait::async_trait;
use provider_core::model::BackgroundTask;
use provider_core::port::{EndpointTaskStore, Page, StoreResult};

use super::tasks::{TASK, task};
use super::{SqliteStore, rows};
use crate::codec::PageQuery;

#[async_trait]
impl EndpointTaskStore for SqliteStore {
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let endpoint = endpoint.to_owned();
        let select = format!("{TASK} WHERE endpoint = $1");
        self.read(move |db| rows::list(db, &select, "id", &endpoint, &PageQuery::new(&page), task)).await
    }
}
