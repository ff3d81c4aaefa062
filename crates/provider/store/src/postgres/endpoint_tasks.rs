//! The background tasks of one endpoint.

use async_trait::async_trait;
use provider_core::model::BackgroundTask;
use provider_core::port::{EndpointTaskStore, Page, StoreResult};

use super::tasks::{TASK, task};
use super::{PostgresStore, rows};
use crate::codec::PageQuery;

#[async_trait]
impl EndpointTaskStore for PostgresStore {
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let client = self.client().await?;
        let select = format!("SELECT {TASK} FROM background_tasks WHERE endpoint = $1");
        Ok(rows::list(&client, &select, "id", endpoint, &PageQuery::new(&page), task).await?)
    }
}
