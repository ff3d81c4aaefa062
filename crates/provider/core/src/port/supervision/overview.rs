//! What the figures of the whole installation are made of. Asked every few seconds, whatever is stored.

use async_trait::async_trait;
use jiff::Timestamp;

use super::super::StoreResult;
use crate::model::{Id, TaskKind, TaskStatus};

/// An endpoint with rows that are nobody's, whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEndpoint {
    /// The endpoint.
    pub endpoint: Id,
    /// Since when the first of them is due. What was asked for by hand has no such time and is left out.
    pub since: Timestamp,
}

/// How many endpoints are not as they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointStates {
    /// Enabled, and every attempt has failed for a while.
    pub failing: u64,
    /// Disabled, by whomever.
    pub disabled: u64,
}

/// How many background tasks of one kind and status there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskCount {
    /// What they do.
    pub kind: TaskKind,
    /// Whether they go on.
    pub status: TaskStatus,
    /// How many.
    pub count: u64,
}

/// Part of [`super::OperatorStore`]. Each call is a look into an index, however much is kept.
#[async_trait]
pub trait InstallationStore: Send + Sync {
    /// Endpoints with something due at `now`, the longest due first, at most `limit`.
    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>>;
    /// Endpoints of all accounts by how they are.
    async fn endpoint_states(&self) -> StoreResult<EndpointStates>;
    /// Background tasks of all accounts by kind and status, in no order; what there is none of is left out.
    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>>;
}
