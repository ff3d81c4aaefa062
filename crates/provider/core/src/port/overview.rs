//! What the dashboard shows of an account across its applications. The delivery path calls none of these methods.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Page, StoreResult};
use crate::model::{Application, Endpoint, Id};

/// How one application fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationFigures {
    /// The application.
    pub application: Id,
    /// Its endpoints.
    pub endpoints: u64,
    /// Of these, enabled endpoints whose attempts fail.
    pub failing: u64,
    /// Of these, disabled endpoints.
    pub disabled: u64,
    /// When the latest message was accepted.
    pub last_message_at: Option<Timestamp>,
    /// Successful attempts among those counted.
    pub success: u64,
    /// Failed attempts among those counted.
    pub fail: u64,
}

/// Stored payloads of an application's latest messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PayloadBytes {
    /// Messages that were looked at.
    pub messages: u64,
    /// Bytes of their payloads as they are stored.
    pub bytes: u64,
}

/// What an account has of what its set-up needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountProgress {
    /// It has an endpoint.
    pub has_endpoint: bool,
    /// A receiver answered 2xx. Looks at the latest attempts of each endpoint, up to the caller's limit.
    pub has_delivery: bool,
}

/// Reading an account's applications and endpoints together.
#[async_trait]
pub trait OverviewStore: Send + Sync {
    /// The figures of each application, in the order given. Counts the attempts with ids after `after`: of each endpoint
    /// the latest `attempts_max`.
    async fn application_figures(
        &self,
        applications: &[Id],
        after: &str,
        attempts_max: usize,
    ) -> StoreResult<Vec<ApplicationFigures>>;
    /// An account's applications by id whose name, uid or id contains the text, whatever its case.
    async fn search_applications(&self, account: &str, text: &str, page: Page) -> StoreResult<Vec<Application>>;
    /// Enabled endpoints of the account whose attempts fail, those that failed first before the others.
    async fn failing_endpoints(&self, account: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// Endpoints of the account that choose this event type by name, by id.
    async fn subscribed_endpoints(&self, account: &str, event_type: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// What the account has. Reads at most `attempts_max` attempts of each endpoint.
    async fn account_progress(&self, account: &str, attempts_max: usize) -> StoreResult<AccountProgress>;
    /// How many of an application's latest messages, at most `rows_max`, have a payload, and how many bytes these have.
    async fn payload_bytes(&self, application: &str, rows_max: usize) -> StoreResult<PayloadBytes>;
    /// Counts an application's messages between neighbouring `bounds`, which ascend; one number for each range, each at
    /// most `rows_max`. Reads only an index.
    async fn message_tallies(&self, application: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<u64>>;
}
