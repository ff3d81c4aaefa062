//! The processes that share a store, and their heartbeats.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;

use super::StoreResult;
use crate::model::Id;

/// One process that works on the store. Each start of a process gets a new id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeId(pub Id);

/// Heartbeats of nodes, and signals between them.
#[async_trait]
pub trait NodeStore: Send + Sync {
    /// The time by the database server's clock. Heartbeats are written and compared by it, because the clocks of nodes
    /// differ. `None` for a database without a server, which one process uses with its own clock.
    async fn database_time(&self) -> StoreResult<Option<Timestamp>>;
    /// The version of the tables and the size of the database.
    async fn database_figures(&self) -> StoreResult<DatabaseFigures>;
    /// Records that `node` is alive at `now`, which is the time of [`NodeStore::database_time`]. Delivery rows of nodes
    /// whose last heartbeat is before `dead_before` lose their owner and become due.
    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;
    /// Records that `node` has stopped: its delivery rows lose their owner and become due `now`.
    async fn release_node(&self, node: &NodeId, now: Timestamp) -> StoreResult<()>;
    /// The number of nodes with a heartbeat at or after `alive_since`.
    async fn live_node_count(&self, alive_since: Timestamp) -> StoreResult<usize>;
    /// Records the base address of a node that has a heartbeat.
    async fn set_node_address(&self, node: &NodeId, address: &str) -> StoreResult<()>;
    /// Addresses of nodes with a heartbeat at or after `alive_since`, the latest heartbeat first, at most `limit`.
    async fn node_addresses(&self, alive_since: Timestamp, limit: usize) -> StoreResult<Vec<String>>;
    /// Signals that another process changed data: the caller clears its caches and reads the tables. The signal may
    /// fire without a change, and may miss a change, which the caller's polling then finds.
    fn remote_changes(&self) -> Signal;
    /// Returns `Ok` if the database can be read and written.
    async fn ping(&self) -> StoreResult<()>;
}
