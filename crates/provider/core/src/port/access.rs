//! The part of the store port about who may do what: settings of accounts, use of keys, tokens of applications.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::{Account, AppToken};

/// Settings, keys and tokens. A token is looked up with each request that brings one, so that what one node ends is ended
/// on all of them at once; no other node need be told.
#[async_trait]
pub trait AccessStore: Send + Sync {
    /// Replaces name and settings. Other nodes are signalled. `NotFound`.
    async fn update_account(&self, account: Account) -> StoreResult<()>;
    /// Remembers that the key was used, unless a later use is known. Nobody is signalled.
    async fn touch_api_key(&self, id: &str, at: Timestamp) -> StoreResult<()>;

    /// Adds a token, and drops the oldest of its application beyond `tokens_max`. `NotFound` (application).
    async fn create_app_token(&self, token: AppToken, tokens_max: usize) -> StoreResult<()>;
    /// The token of this hash, over its time or not, as long as its application is there.
    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>>;
    /// False when it was not there.
    async fn delete_app_token(&self, application: &str, id: &str) -> StoreResult<bool>;
    /// Ends the application's tokens at `at`, unless they end earlier: all of them, or those of these sessions.
    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()>;
    /// Forgets at most `limit` tokens that ended before `before`; the number forgotten.
    async fn delete_expired_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;

    /// The number of the account's event types, archived ones too, counted up to `count_max`.
    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize>;
}
