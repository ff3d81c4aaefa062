//! Customers' connections to their consumer applications at a provider.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::{Cursor, IdempotentAnswer, Page, StoreResult};

/// Why a customer's queue is parked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// What the provider answered, for support to read. Holds no secret.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
}

/// A customer's connection to its consumer application at a provider. It is complete, and anything is published, only
/// with both the application identifier and the API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The customer.
    pub customer: Uuid,
    /// Base address of the provider's API, such as `http://127.0.0.1:8071`.
    pub provider_url: String,
    /// Consumer application identifier (`app_…`).
    pub application_id: Option<String>,
    /// The provider API key, sealed.
    pub api_key: Option<Sealed>,
    /// Set while the queue waits for support.
    pub parked: Option<Parked>,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Consumer {
    /// True when events can be published: both credentials are there.
    pub fn is_complete(&self) -> bool {
        self.application_id.is_some() && self.api_key.is_some()
    }
}

/// Which announced events a new connection begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartFrom {
    /// Events that are announced from now on. The default.
    Now,
    /// Also the announced events after this journal cursor that are not in the outbox yet.
    Cursor(Cursor),
}

/// Connections. [`super::AccessChange`] creates, replaces and deletes them. A new or changed connection makes the
/// waiting rows of the queue due and clears their failures, which say nothing about the new connection.
#[async_trait]
pub trait ConsumerStore: Send + Sync {
    /// A customer's connection.
    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>>;
    /// Connections, by customer.
    async fn consumers(&self, page: Page<Uuid>) -> StoreResult<Vec<Consumer>>;
    /// Parks the customer's queue, or resumes it with `None`.
    async fn park_queue(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()>;
    /// Resumes a parked queue and stores the answer. The connection counts as changed at `at`, and waiting rows become
    /// due immediately. `Replayed` when the answer's key was used before; then nothing changes.
    async fn resume_queue(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
}
