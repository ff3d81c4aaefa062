//! What waits for one endpoint: what for, and what somebody may do about it.

use async_trait::async_trait;
use jiff::Timestamp;

use super::super::StoreResult;
use crate::model::{Attempt, Id};

/// How many rows of an endpoint wait for what. Each is counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitingCounts {
    /// A node has them: under way, or in its memory.
    pub claimed: u64,
    /// Those before them with the same ordering key.
    pub key: u64,
    /// They are due and nobody's: to be tried for the first time, again, or by hand.
    pub due: u64,
    /// Their next attempt, at its time.
    pub retry: u64,
    /// The time that their sender wants them delivered at.
    pub later: u64,
}

/// Part of [`super::OperatorStore`]. What people ask for: nothing of it is on the way of a message.
#[async_trait]
pub trait WaitingDeliveryStore: Send + Sync {
    /// What the first `count_max` rows of an endpoint, by message, wait for at `now`.
    async fn waiting_counts(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingCounts>;
    /// Makes at most `limit` rows due at `now` that wait for their next attempt; the number. How many attempts they have
    /// had stays.
    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize>;
    /// Says that somebody has done something about the endpoint, as a change of it does: what nodes hold against it, such as a
    /// pause that its receiver asked for, is over. Nobody is told of a change. `NotFound`.
    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()>;
    /// Messages with ids before `before` that have a row for the endpoint, newest first, at most `limit`. Those that are
    /// under way and stay in order are left out: what is behind them must not overtake them.
    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>>;
    /// Ends deliveries to one endpoint, each with an attempt that says so, in one transaction; the number. What has no row any
    /// more gets no attempt, nor does what [`WaitingDeliveryStore::waiting_messages`] leaves out. What a node has in memory may still
    /// go out once.
    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize>;
}
