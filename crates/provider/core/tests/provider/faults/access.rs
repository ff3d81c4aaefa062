//! Access and what waits: passed on.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Account, AppToken, Endpoint, Id};
use provider_core::port::{AccessStore, StoreResult, Waiting, WaitingStore};

use super::Faulty;

#[async_trait]
impl AccessStore for Faulty {
    async fn update_account(&self, account: Account) -> StoreResult<()> {
        self.store.update_account(account).await
    }

    async fn api_key_used(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        self.store.api_key_used(id, at).await
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

    async fn forget_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.forget_app_tokens(before, limit).await
    }

    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize> {
        self.store.event_type_count(account, count_max).await
    }
}

#[async_trait]
impl WaitingStore for Faulty {
    async fn endpoints_waiting(
        &self,
        after: Option<&str>,
        limit: usize,
        count_max: usize,
    ) -> StoreResult<Vec<Waiting>> {
        self.store.endpoints_waiting(after, limit, count_max).await
    }

    async fn endpoint_anywhere(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        self.store.endpoint_anywhere(id).await
    }
}
