//! Tokens that give access to the App Portal of one application.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::AppToken;

/// Tokens of the App Portal. The provider looks up the token of each request, so every node rejects a revoked token at
/// once, without a signal.
#[async_trait]
pub trait AppTokenStore: Send + Sync {
    /// Adds a token, and deletes the oldest tokens of its application beyond `tokens_max`. Error: `NotFound`
    /// (application).
    async fn create_app_token(&self, token: AppToken, tokens_max: usize) -> StoreResult<()>;
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
    /// Deletes a token. False when the application has no such token.
    async fn delete_app_token(&self, application: &str, id: &str) -> StoreResult<bool>;
    /// Sets the expiry of the application's tokens to `at`, unless they expire earlier: all tokens, or those of these
    /// sessions.
    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()>;
    /// Deletes at most `limit` tokens that expired before `before`; returns the number deleted.
    async fn delete_expired_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize>;
}
