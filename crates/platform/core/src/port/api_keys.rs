//! API keys.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Page, StoreResult};

/// An access right of a key of the platform's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// SHA-256 of the whole key (a key is 192 random bits, so no salt or stretching is needed).
    pub hash: [u8; 32],
    /// The customer that it is confined to; none for the platform's own staff.
    pub customer: Option<Uuid>,
    /// Name, for people.
    pub name: String,
    /// Scope names; see `access::Scope`.
    pub scopes: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// API keys. A revoked key stays readable: journal and audit log name it. [`super::AccessChange`] creates and revokes
/// keys.
#[async_trait]
pub trait ApiKeyStore: Send + Sync {
    /// A key by its UUID, revoked or not.
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>>;
    /// The key with this hash.
    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>>;
    /// In order of creation (UUID), of one customer if it is named; revoked ones too.
    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>>;
    /// Records the use of a key. A key that does not exist is no error.
    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
}
