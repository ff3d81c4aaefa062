//! Access and what waits: passed on.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Account, AppToken, Endpoint, Id};
use provider_core::port::{AccessStore, EndpointBacklogStore, StoreResult, Waiting};

use super::Faulty;

#[async_trait]
impl AccessStore for Faulty {
    async fn update_account(&self, account: Account) -> StoreResult<()> {
        self.store.update_account(account).await
    }

    async fn touch_api_key(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        self.store.touch_api_key(id, at).await
    }

    async fn create_app_token(&self, token: AppToken, tokens_max: usize) -> StoreResult<()> {
        self.store.create_app_token(token, tokens_max).await
    }

    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>> {
        self.store.app_token_by_hash(hash).await
    }

    async fn delete_app_token(&self, application: &str, id: &str) -> StoreResult<bool> {
        self.store.delete_app_token(application, id).await
    }

    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()> {
        self.store.end_app_tokens(application, sessions, at).await
    }

    async fn delete_expired_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.delete_expired_app_tokens(before, limit).await
    }

    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize> {
        self.store.event_type_count(account, count_max).await
    }
}

#[async_trait]
impl EndpointBacklogStore for Faulty {
    async fn endpoint_backlogs(
        &self,
        after: Option<&str>,
        limit: usize,
        count_max: usize,
    ) -> StoreResult<Vec<Waiting>> {
        self.store.endpoint_backlogs(after, limit, count_max).await
    }

    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        self.store.endpoint_by_id(id).await
    }
}
