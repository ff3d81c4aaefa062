//! API keys after they were made: which there are, and taking one away.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{ApiKey, Page, StoreResult};

/// Part of the platform's store port. A key that was revoked stays readable for ever: journal and log name it.
#[async_trait]
pub trait ApiKeyStore {
    /// A key by its UUID, revoked or not.
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>>;

    /// In order of creation (UUID), of one customer if it is named; revoked ones too.
    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>>;

    /// Notes since when a key gives no access. The time that was noted first stays; it is no error if the key is gone.
    async fn revoke_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
}
