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
}

/// What an account has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountFigures {
    /// Number of applications.
    pub applications: u64,
    /// Number of their endpoints.
    pub endpoints: u64,
    /// Of these, failing enabled endpoints.
    pub failing: u64,
    /// A receiver responded 2xx.
    pub has_delivery: bool,
}

/// Reading an account's applications and endpoints together.
#[async_trait]
pub trait OverviewStore: Send + Sync {
    /// The figures of each application, in their order.
    async fn application_figures(&self, applications: &[Id]) -> StoreResult<Vec<ApplicationFigures>>;
    /// An account's applications with this text in their name, uid or id, in any case, ordered by id.
    async fn search_applications(&self, account: &str, text: &str, page: Page) -> StoreResult<Vec<Application>>;
    /// Failing enabled endpoints of the account, the longest failing first.
    async fn failing_endpoints(&self, account: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// Endpoints of the account that subscribe to this event type by name, ordered by id.
    async fn subscribed_endpoints(&self, account: &str, event_type: &str, limit: usize) -> StoreResult<Vec<Endpoint>>;
    /// What the account has now.
    async fn account_figures(&self, account: &str) -> StoreResult<AccountFigures>;
}
