//! Figures of an account across its applications, for the dashboard. The delivery path calls none of these methods.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Page, StoreResult};
use crate::model::{Application, Endpoint, Id};

/// Figures of one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationFigures {
    /// The application.
    pub application: Id,
    /// Number of endpoints.
    pub endpoints: u64,
    /// Of these, failing enabled endpoints.
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
    /// Messages with a payload that were read.
    pub messages: u64,
    /// Bytes of their payloads as they are stored.
    pub bytes: u64,
}

/// Progress of the set-up of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountProgress {
    /// The account has an endpoint.
    pub has_endpoint: bool,
    /// A receiver responded 2xx, among the latest attempts of each endpoint up to the caller's limit.
    pub has_delivery: bool,
}

/// Reading an account's applications and endpoints together.
#[async_trait]
pub trait OverviewStore: Send + Sync {
    /// The figures of each application, in their order. Counts the attempts with ids after `after`, for each endpoint
    /// the latest `attempts_max`.
    async fn application_figures(
        &self,
        applications: &[Id],
        after: &str,
        attempts_max: usize,
    ) -> StoreResult<Vec<ApplicationFigures>>;
    /// An account's applications with this text in their name, uid or id, in any case, ordered by id.
    async fn search_applications(&self, account: &str, text: &str, page: Page) -> StoreResult<Vec<Application>>;
    /// Failing enabled endpoints of the account, the longest failing first.
    async fn failing_endpoints(&self, account: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// Endpoints of the account that subscribe to this event type by name, ordered by id.
    async fn subscribed_endpoints(&self, account: &str, event_type: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// The progress of the account. Reads at most `attempts_max` attempts of each endpoint.
    async fn account_progress(&self, account: &str, attempts_max: usize) -> StoreResult<AccountProgress>;
    /// The number of an application's latest messages, at most `rows_max`, that have a payload, and the bytes of these
    /// payloads.
    async fn payload_bytes(&self, application: &str, rows_max: usize) -> StoreResult<PayloadBytes>;
    /// Counts an application's messages between neighbouring `bounds`, which ascend; one number for each range, each at
    /// most `rows_max`. Reads only an index.
    async fn message_tallies(&self, application: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<u64>>;
}
