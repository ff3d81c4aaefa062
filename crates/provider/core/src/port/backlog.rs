//! Waiting deliveries, for operators, metrics and the App Portal. The delivery path calls none of these methods.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::{Endpoint, Id};

/// Maximum number of counted delivery rows of the whole store. A larger number is shown as this one.
pub const BACKLOG_COUNT_MAX: usize = 1_000_000;

/// The size and age of a backlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Delivery rows, claimed or not.
    pub deliveries: u64,
    /// When the oldest of their messages was accepted.
    pub oldest_at: Option<Timestamp>,
}

/// An endpoint with undelivered messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointBacklog {
    /// The account of the endpoint.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Its delivery rows.
    pub deliveries: usize,
    /// When the oldest of their messages was accepted.
    pub oldest_at: Option<Timestamp>,
    /// The earliest time at which a row without an owner is due; none when nodes have claimed all of them.
    pub next_at: Option<Timestamp>,
}

/// An endpoint with a due row that no node has claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEndpoint {
    /// The endpoint.
    pub endpoint: Id,
    /// Since when its first row is due. Rows that are marked for a resend have no such time and are omitted.
    pub since: Timestamp,
}

/// The number of an endpoint's delivery rows by the reason why they wait. Each row is counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitingCounts {
    /// Claimed by a node: the attempt is under way, or the node has the message in memory.
    pub claimed: u64,
    /// Held behind an earlier row with the same ordering key.
    pub key: u64,
    /// Due and without an owner: a first attempt, a retry or a manual attempt.
    pub due: u64,
    /// Waiting for the time of the next attempt.
    pub retry: u64,
    /// Waiting for the message's `deliver_at`.
    pub later: u64,
}

impl WaitingCounts {
    /// All rows.
    pub fn total(self) -> u64 {
        let Self { claimed, key, due, retry, later } = self;
        claimed + key + due + retry + later
    }
}

/// Reading the backlog.
#[async_trait]
pub trait BacklogStore: Send + Sync {
    /// The backlog of one endpoint.
    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog>;
    /// The backlog of all endpoints together, counted to [`BACKLOG_COUNT_MAX`].
    async fn total_backlog(&self) -> StoreResult<Backlog>;
    /// The number of delivery rows of all endpoints that are due at `now` and that no node has claimed, counted to
    /// [`BACKLOG_COUNT_MAX`]; answered from an index.
    async fn due_deliveries(&self, now: Timestamp) -> StoreResult<u64>;
    /// Endpoints with delivery rows, ordered by id, after the endpoint `after`, at most `limit`. Their rows are counted
    /// in an index.
    async fn endpoint_backlogs(&self, after: Option<&str>, limit: usize) -> StoreResult<Vec<EndpointBacklog>>;
    /// Counts the rows of an endpoint by the reason why they wait at `now`. It reads all of them.
    async fn waiting_counts(&self, endpoint: &str, now: Timestamp) -> StoreResult<WaitingCounts>;
    /// Messages with ids before `before` that have a row for the endpoint, newest first, at most `limit`. A message
    /// with an ordering key is omitted while its attempt is under way: messages behind it must not overtake it.
    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>>;
    /// The number of messages whose attempts at the endpoint failed, with ids from `first_attempt` on, and whose retries
    /// have ended. For an endpoint without a success since that attempt.
    async fn ended_failures(&self, endpoint: &str, first_attempt: &str) -> StoreResult<u64>;
    /// Endpoints with a row due at `now`, the longest due first, at most `limit`; answered from an index.
    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>>;
}
