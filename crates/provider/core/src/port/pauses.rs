//! Endpoints that the dispatcher does not call before a given time, because the receiver asked for it (`Retry-After`) or
//! answered that it is overloaded.
//!
//! Every node keeps the pauses of its endpoints in memory. The table serves a node that starts, the other nodes, and
//! operators who ask why a message waits.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

/// An endpoint that is not called before `until`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The application.
    pub application: Id,
    /// The endpoint.
    pub endpoint: Id,
    /// When the pause ends.
    pub until: Timestamp,
    /// `updated_at` of the endpoint or of its application, the later one, when the pause began. A later change of either
    /// ends the pause.
    pub changed_at: Timestamp,
}

/// Pauses of endpoints.
#[async_trait]
pub trait PauseStore: Send + Sync {
    /// Stores a pause in place of the endpoint's last one. Deletes pauses that are over.
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()>;
    /// Pauses saved at or after `since` that are neither over nor ended by a change; the longest first, at most `limit`.
    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>>;
    /// When the endpoint's pause ends; none when it is not paused.
    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>>;
    /// Ends the endpoint's pause by raising its `updated_at`, as a change of the endpoint does. No operational event is
    /// written. Error: `NotFound`.
    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()>;
}
