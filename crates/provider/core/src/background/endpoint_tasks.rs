//! The tasks of one endpoint, for callers with access to its application only.

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::BackgroundTask;
use crate::page::LIMIT_MAX;
use crate::port::{Order, Page};
use crate::provider::Provider;

impl Provider {
    /// The latest tasks of an endpoint, newest first, at most `limit` (250). 404.
    pub async fn endpoint_tasks(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        limit: usize,
    ) -> ProviderResult<Vec<BackgroundTask>> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let page = Page { from: None, order: Order::Descending, limit: limit.min(LIMIT_MAX) };
        Ok(self.store().endpoint_tasks(&endpoint.id, page).await?)
    }
}
