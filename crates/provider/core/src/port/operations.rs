//! What those who run the provider ask of a store.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Backlog, NodeId, StoreResult};

/// Delivery rows that are counted; more are shown as this many.
pub const BACKLOG_COUNT_MAX: usize = 1_000_000;

/// The part of the port that is about running nodes.
#[async_trait]
pub trait NodeStore: Send + Sync {
    /// What waits for all endpoints together, counted to [`BACKLOG_COUNT_MAX`].
    async fn total_backlog(&self) -> StoreResult<Backlog>;
    /// Says that `node` has ended: what it had is nobody's and due at once.
    async fn release_node(&self, node: &NodeId, now: Timestamp) -> StoreResult<()>;
    /// How many names of nodes were heard of since then.
    async fn live_node_count(&self, alive_since: Timestamp) -> StoreResult<usize>;
}
