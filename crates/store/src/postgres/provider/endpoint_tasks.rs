//! The background tasks of one endpoint.

use ::provider::model::BackgroundTask;
use ::provider::port::{EndpointTaskStore, Page, StoreResult};
use async_trait::async_trait;

use super::tasks::{TASK, task};
use super::{Provider, rows};
use crate::provider_codec::Slice;

#[async_trait]
impl EndpointTaskStore for Provider {
    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let client = self.engine.client().await?;
        let select = format!("SELECT {TASK} FROM background_tasks WHERE endpoint = $1");
        Ok(rows::list(&client, &select, "id", endpoint, &Slice::new(&page), task).await?)
    }
}
