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
    /// Why the endpoint is paused.
    pub reason: PauseReason,
}

/// Why an endpoint is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// Its receiver asked for the pause with `Retry-After`.
    Requested,
    /// Attempts timed out, or the receiver responded that it is overloaded, so the dispatcher waits between attempts.
    Overload,
}

impl PauseReason {
    /// Both reasons.
    pub const ALL: [Self; 2] = [Self::Requested, Self::Overload];

    /// The stable name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Overload => "overload",
        }
    }

    /// The reason with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// Pauses of endpoints.
#[async_trait]
pub trait PauseStore: Send + Sync {
    /// Stores a pause in place of the endpoint's previous one. Deletes pauses that have ended.
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()>;
    /// Pauses that were saved at or after `since` and have not ended; the longest first, at most `limit`.
    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>>;
    /// The endpoint's pause; none when it is not paused.
    async fn pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Pause>>;
    /// When the endpoint's pause ends; none when it is not paused.
    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        Ok(self.pause(endpoint, now).await?.map(|pause| pause.until))
    }
    /// Ends the endpoint's pause by setting its `updated_at`, as a change of the endpoint does. Writes no operational
    /// event. Error: `NotFound`.
    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()>;
}
