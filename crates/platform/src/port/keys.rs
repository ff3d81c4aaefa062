//! Keys of the platform's API, as whoever looks after them sees them. What checks a request is in the port itself.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{ApiKey, Page, StoreResult};

/// The part of the port for looking after keys.
#[async_trait]
pub trait Keys: Send + Sync {
    /// A key.
    async fn api_key(&self, uuid: Uuid) -> StoreResult<Option<ApiKey>>;

    /// In order of creation (UUID), those confined to one customer if it is named. Those that work no more are among them.
    async fn api_keys(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<ApiKey>>;

    /// The key stops working at `at`, or earlier if it would anyway. It is no error if it is gone.
    async fn end_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
}
