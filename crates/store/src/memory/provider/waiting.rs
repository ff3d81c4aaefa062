//! What waits, for people.

use ::provider::model::{Endpoint, Id};
use ::provider::port::{StoreResult, Waiting, WaitingStore};
use async_trait::async_trait;

use super::{Memory, Tables};

#[async_trait]
impl WaitingStore for Memory {
    async fn endpoints_waiting(
        &self,
        after: Option<&str>,
        limit: usize,
        count_max: usize,
    ) -> StoreResult<Vec<Waiting>> {
        let tables = self.tables();
        let found = tables.work.endpoints_with_rows(after).into_iter().filter_map(|endpoint| {
            let (account, endpoint) = tables.endpoint_anywhere(&endpoint)?;
            let backlog = tables.work.backlog(&endpoint.id);
            Some(Waiting {
                account,
                deliveries: usize::try_from(backlog.deliveries).unwrap_or(usize::MAX).min(count_max),
                oldest_at: backlog.oldest_at,
                next_at: tables.work.next_due_of(&endpoint.id),
                endpoint,
            })
        });
        Ok(found.take(limit).collect())
    }

    async fn endpoint_anywhere(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        Ok(self.tables().endpoint_anywhere(id))
    }
}

impl Tables {
    pub(super) fn endpoint_anywhere(&self, id: &str) -> Option<(Id, Endpoint)> {
        let endpoint = self.config.endpoints.values().find(|endpoint| &*endpoint.id == id)?;
        let application = self.config.application_by_id(&endpoint.application)?;
        Some((application.account.clone(), endpoint.clone()))
    }
}
