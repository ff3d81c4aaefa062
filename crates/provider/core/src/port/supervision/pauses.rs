//! Which endpoints are left alone because their receivers asked for it, or seem to need it. Every node keeps them in memory;
//! this is for a node that starts, for other nodes, and for people who ask why something waits.

use async_trait::async_trait;
use jiff::Timestamp;

use super::super::StoreResult;
use crate::model::Id;

/// That an endpoint is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The application.
    pub application: Id,
    /// The endpoint.
    pub endpoint: Id,
    /// Until when.
    pub until: Timestamp,
    /// When the endpoint, or its application, had last been changed as the receiver was asked: a later change ends the pause.
    pub changed_at: Timestamp,
}

/// Part of [`super::OperatorStore`].
#[async_trait]
pub trait PauseStore: Send + Sync {
    /// Keeps a pause in place of the endpoint's last one. Forgets pauses that are over.
    async fn save_pause(&self, pause: Pause, now: Timestamp) -> StoreResult<()>;
    /// Pauses kept at or after `since` that are not over nor ended by a change; the longest first, at most `limit`.
    async fn pauses(&self, since: Timestamp, now: Timestamp, limit: usize) -> StoreResult<Vec<Pause>>;
    /// Until when the endpoint is left alone; none when it is not.
    async fn paused_until(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<Timestamp>>;
}
