//! Accounts and their API keys.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Page, StoreResult};
use crate::model::{Account, ActivityEntry, ApiKey};

/// Accounts and their API keys.
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// Adds an account. Error: `Taken("id")`.
    async fn create_account(&self, account: Account) -> StoreResult<()>;
    /// The account with this id.
    async fn account(&self, id: &str) -> StoreResult<Option<Account>>;
    /// Accounts by id.
    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>>;
    /// Replaces name and settings, and signals other nodes. Error: `NotFound`.
    async fn update_account(&self, account: Account, activity: ActivityEntry) -> StoreResult<()>;
    /// Adds a key. Errors: `NotFound` (account), `Taken("id")`.
    async fn create_api_key(&self, key: ApiKey, activity: ActivityEntry) -> StoreResult<()>;
    /// The key with this hash, of any account.
    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
    /// The account's key with this id.
    async fn api_key(&self, account: &str, id: &str) -> StoreResult<Option<ApiKey>>;
    /// An account's keys by id.
    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>>;
    /// Records that the key was used at `at` from this address, unless a later use is recorded. Other nodes are not
    /// signalled.
    async fn touch_api_key(&self, id: &str, at: Timestamp, from: Option<String>) -> StoreResult<()>;
    /// Sets when a key expires, and signals other nodes. False when the account has no such key.
    async fn expire_api_key(
        &self,
        account: &str,
        id: &str,
        expires_at: Option<Timestamp>,
        activity: ActivityEntry,
    ) -> StoreResult<bool>;
    /// Deletes a key, and signals other nodes. False when the account has no such key.
    async fn delete_api_key(&self, account: &str, id: &str, activity: ActivityEntry) -> StoreResult<bool>;
}
