//! When somebody worked on the store, and when nobody did.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;

/// A time in which no node said that it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downtime {
    /// The last sign of life before.
    pub since: Timestamp,
    /// The first one after.
    pub until: Timestamp,
}

/// The part of the port for downtimes.
#[async_trait]
pub trait Downtimes: Send + Sync {
    /// Notes that a node lives at `now`. When nobody had for longer than `gap_ms_max`, that was a downtime: it is kept until
    /// [`Downtimes::clear_downtime`], and one that is still there becomes part of it. The downtime that is kept, on whichever node it
    /// was found.
    async fn detect_downtime(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>>;
    /// Nothing is left to be done about this downtime. Another one, found since, stays.
    async fn clear_downtime(&self, downtime: Downtime) -> StoreResult<()>;
}

impl Downtime {
    /// If nobody could see to what was due then.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.since < at && at <= self.until
    }
}
