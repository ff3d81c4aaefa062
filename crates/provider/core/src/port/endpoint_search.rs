//! Searching the endpoints of an application, or of all applications of an account, those that fail first.

use async_trait::async_trait;

use super::StoreResult;
use crate::model::{Endpoint, Id};

/// Whether an endpoint receives messages, in the order of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// Enabled, and every attempt has failed since a time.
    Failing = 0,
    /// Disabled.
    Disabled = 1,
    /// Enabled, and not failing.
    Enabled = 2,
}

impl EndpointState {
    /// All states, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Failing, Self::Disabled, Self::Enabled];

    /// Stable name, for addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
        }
    }

    /// The state of this endpoint.
    pub fn of(endpoint: &Endpoint) -> Self {
        match (endpoint.disabled, endpoint.failing_since) {
            (true, _) => Self::Disabled,
            (false, Some(_)) => Self::Failing,
            (false, None) => Self::Enabled,
        }
    }
}

/// The conditions of a search. An endpoint matches if it meets all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointFilter {
    /// The endpoints of this application; of all applications of the account when none.
    pub application: Option<Id>,
    /// The address, the description, the id or the uid contains this text, in any case. In a search over all
    /// applications, also the name, the id or the uid of the application.
    pub text: String,
    /// The endpoint is in this state.
    pub state: Option<EndpointState>,
}

/// The page of a list of endpoints to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointPageKey {
    /// The page that contains this endpoint, if it matches.
    pub with: Option<Id>,
    /// The number of endpoints before the page, otherwise. After the end of the list, the last page is read.
    pub skipped: u64,
    /// Endpoints of a page; at least one.
    pub limit: usize,
}

/// An endpoint with the name of its application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Name of its application.
    pub application_name: String,
}

/// A page of endpoints, with the number of endpoints that match in each state, whatever the state of the filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointPage {
    /// Failing endpoints, the longest failing first; then disabled ones, then the others, by id.
    pub rows: Vec<FoundEndpoint>,
    /// The number of endpoints before the page.
    pub skipped: u64,
    /// The number of endpoints in each state, in the order of [`EndpointState::ALL`].
    pub totals: [u64; EndpointState::ALL.len()],
}

/// Reading lists of endpoints.
#[async_trait]
pub trait EndpointSearchStore: Send + Sync {
    /// A page of the account's endpoints that match the filter. The totals and the page are read in one transaction. Reads
    /// all endpoints of the account or the application.
    async fn search_endpoints(
        &self,
        account: &str,
        filter: &EndpointFilter,
        page: &EndpointPageKey,
    ) -> StoreResult<EndpointPage>;
}
