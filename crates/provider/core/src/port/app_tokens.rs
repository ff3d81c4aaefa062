//! Tokens that give access to the App Portal of one application.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Page, StoreResult};
use crate::model::{ActivityEntry, AppToken, Role};

/// A new token, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAppToken {
    /// The token.
    pub token: AppToken,
    /// The role of the user who creates it; none for another maker.
    pub maker_role: Option<Role>,
    /// Entry of the activity log.
    pub activity: Option<ActivityEntry>,
}

/// Tokens of the App Portal. The provider looks up the token of each request, so every node rejects a revoked token at
/// once, without a signal.
#[async_trait]
pub trait AppTokenStore: Send + Sync {
    /// Adds a token, and deletes the oldest tokens of its application beyond `tokens_max`. Errors: `NotFound`
    /// (application), `Conflict` when the user who creates it was removed or has another role.
    async fn create_app_token(&self, new: NewAppToken, tokens_max: usize) -> StoreResult<()>;
    /// The tokens of an application by id, without previews.
    async fn app_tokens(&self, application: &str, page: Page) -> StoreResult<Vec<AppToken>>;
    /// A token of an application; none for a preview.
    async fn app_token(&self, application: &str, id: &str) -> StoreResult<Option<AppToken>>;
    /// Records a use of a token; an earlier time than the recorded one changes nothing.
    async fn touch_app_token(&self, id: &str, at: Timestamp) -> StoreResult<()>;
    /// The token with this hash, expired or not; none when its application was deleted.
    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>>;
    /// Replaces the hash `old` of a token by `new`, and its expiry, unless it expired before `now`. False when no such
    /// token exists.
    async fn exchange_app_token(
        &self,
        old: [u8; 32],
        new: [u8; 32],
        expires_at: Timestamp,
        now: Timestamp,
    ) -> StoreResult<bool>;
    /// Deletes a token. False when the application has no such token; then no entry is written.
    async fn delete_app_token(&self, application: &str, id: &str, activity: Option<ActivityEntry>)
    -> StoreResult<bool>;
    /// Sets the expiry of the application's tokens to `at`, unless they expire earlier: all tokens, or those of these
    /// sessions.
    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()>;
    /// Deletes at most `limit` tokens that expired before `before`; returns the number deleted.
    async fn delete_expired_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
