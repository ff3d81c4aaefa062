//! Pauses of endpoints. The dispatcher sends nothing to a paused endpoint, because its receiver asked for a pause
//! (`Retry-After`) or responded that it is overloaded.
//!
//! Every node keeps the pauses of its endpoints in memory. The table is for a node that starts, for other nodes, and
//! for operators who want to know why a message waits.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

/// A pause of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The application.
    pub application: Id,
    /// The endpoint.
    pub endpoint: Id,
    /// When the pause ends.
    pub until: Timestamp,
    /// `updated_at` of the endpoint or of its application, the later one, when the pause began. A later change of
    /// either ends the pause.
    pub changed_at: Timestamp,
}

/// Pauses of endpoints.
#[async_trait]
pub trait PauseStore: Send + Sync {
    /// Stores a pause in place of the endpoint's previous one. Deletes pauses that have ended.
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()>;
    /// Pauses that were saved at or after `since` and have not ended; the longest first, at most `limit`.
    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>>;
    /// When the endpoint's pause ends; none when it is not paused.
    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>>;
    /// Ends the endpoint's pause by setting its `updated_at`, as a change of the endpoint does. Writes no operational
    /// event. Error: `NotFound`.
    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()>;
}
