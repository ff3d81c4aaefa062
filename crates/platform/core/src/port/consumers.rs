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

/// Where a customer's provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderAddress {
    /// The provider of this installation, at whatever address one of its nodes has when it is needed.
    Embedded,
    /// Base address of another provider's API, such as `https://api.eu.example.com`, without a slash at its end.
    Url(String),
}

impl ProviderAddress {
    /// How logs and pages name it: `embedded`, or the address.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Embedded => "embedded",
            Self::Url(url) => url,
        }
    }
}

/// What the last request to a provider showed about a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// No request was made since the connection was entered.
    Untried,
    /// The provider accepted a request.
    Working,
    /// The provider refused the credentials or the application.
    Refused,
    /// The provider did not answer, or reported that it is out of order.
    Unreachable,
}

/// A [`Contact`], and since when requests have shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactRecord {
    /// What requests show.
    pub contact: Contact,
    /// When a request first showed it.
    pub since: Timestamp,
    /// The cause and what to do, if requests fail. Holds no secret and no text of the provider.
    pub detail: Option<String>,
}

/// A customer's connection to its consumer application at a provider. It is complete, and anything is published, only
/// with both the application identifier and the API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The customer.
    pub customer: Uuid,
    /// The provider.
    pub provider: ProviderAddress,
    /// Consumer application identifier (`app_…`).
    pub application_id: Option<String>,
    /// The provider API key, sealed.
    pub api_key: Option<Sealed>,
    /// True when the platform made the key, for the account that the embedded provider opens for the customer.
    pub has_made_key: bool,
    /// Set while the queue waits for support.
    pub parked: Option<Parked>,
    /// What requests with these credentials have shown.
    pub contact: ContactRecord,
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
    /// Records what a request showed, unless the connection changed after `updated_at`. The time of an equal contact
    /// stays.
    async fn record_contact(&self, customer: Uuid, updated_at: Timestamp, contact: ContactRecord) -> StoreResult<()>;
}
