//! The part of the store port that people ask: what waits, and where.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::{Endpoint, Id};

/// An endpoint with messages that are not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointBacklog {
    /// The account that it belongs to.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Its delivery rows, counted up to the number asked for.
    pub deliveries: usize,
    /// When the oldest of their messages was accepted.
    pub oldest_at: Option<Timestamp>,
    /// The earliest time at which a row that is nobody's is due; none when a node has all of them.
    pub next_at: Option<Timestamp>,
}

/// Questions of people. They may take a while, and nothing else waits for them.
#[async_trait]
pub trait EndpointBacklogStore: Send + Sync {
    /// Endpoints with delivery rows by id, after the endpoint `after`, at most `limit`. Costs a look-up for each, and at
    /// most `count_max` rows.
    async fn endpoint_backlogs(
        &self,
        after: Option<&str>,
        limit: usize,
        count_max: usize,
    ) -> StoreResult<Vec<EndpointBacklog>>;
    /// An endpoint by its id alone, with its account.
    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>>;
}
