//! A customer's connection to its consumer application at a provider.

use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::Cursor;

/// Why a customer's queue waits for a person (decisions, section 3).
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
    /// Those that happen from now on. The default.
    Now,
    /// Those after this journal cursor as well, as far as they are not in the outbox yet.
    Cursor(Cursor),
}
