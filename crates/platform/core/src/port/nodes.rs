//! A node among the others on its store: heartbeats, health, notifications, downtimes.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use tokio::sync::broadcast;
use uuid::Uuid;

use super::StoreResult;

/// One process that works on the store. Each start has a new id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub Uuid);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Longest notification, bytes of ASCII without quotes.
pub const NOTIFICATION_BYTES_MAX: usize = 7_000;

/// A received notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// Another process sent this.
    Message(Arc<str>),
    /// Notifications may have been lost.
    Gap,
}

/// Notifications in the order in which they arrive.
#[derive(Debug)]
pub struct Notifications(broadcast::Receiver<Option<Arc<str>>>);

impl Notifications {
    /// `None` in the channel stands for a gap.
    pub fn new(receiver: broadcast::Receiver<Option<Arc<str>>>) -> Self {
        Self(receiver)
    }

    /// The next one; none when the store is closed.
    pub async fn next(&mut self) -> Option<Notification> {
        match self.0.recv().await {
            Ok(Some(notice)) => Some(Notification::Message(notice)),
            Ok(None) | Err(broadcast::error::RecvError::Lagged(_)) => Some(Notification::Gap),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// A time without a heartbeat of any node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downtime {
    /// The last heartbeat before it.
    pub since: Timestamp,
    /// The first heartbeat after it.
    pub until: Timestamp,
}

impl Downtime {
    /// True when no node could do work that was due at `at`.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.since < at && at <= self.until
    }
}

/// The nodes that work on the store.
#[async_trait]
pub trait NodeStore: Send + Sync {
    /// The time by the database server's clock. Heartbeats are written and compared by it, because the clocks of nodes
    /// differ. `None` for a database without a server, which one process uses with its own clock.
    async fn database_time(&self) -> StoreResult<Option<Timestamp>>;
    /// The version of the tables and the size of the database.
    async fn database_figures(&self) -> StoreResult<DatabaseFigures>;
    /// Records a heartbeat of `node` at `now`, which is the time of [`NodeStore::database_time`]. Outbox rows of nodes whose last heartbeat is
    /// before `dead_before` become unassigned.
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()>;
    /// Signals that another process (a management command, another node) changed something that may be work for this
    /// one. It may fire without cause; a missed signal is made up for by polling.
    fn remote_changes(&self) -> Signal;
    /// Checks that the database can be read and written.
    async fn ping(&self) -> StoreResult<()>;
    /// Sends a notification to the other processes; a store for a single process sends nothing. It is not stored and
    /// may be lost. It has at most [`NOTIFICATION_BYTES_MAX`] bytes of ASCII and no quote.
    async fn broadcast(&self, notice: &str) -> StoreResult<()>;
    /// Receives the notifications of other processes from now on; none when there can be no other process.
    fn notifications(&self) -> Option<Notifications>;
    /// Records that a node runs at `now`. A time without such a record of more than `gap_ms_max` is a downtime. The
    /// store keeps it until [`NodeStore::clear_downtime`], and extends a downtime that it still keeps. Returns the kept
    /// downtime, on every node.
    async fn detect_downtime(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>>;
    /// Deletes this downtime. A later one stays.
    async fn clear_downtime(&self, downtime: Downtime) -> StoreResult<()>;
}
