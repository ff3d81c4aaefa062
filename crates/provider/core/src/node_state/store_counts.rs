//! The last counts that were read from the store.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::port::{Backlog, EndpointStates, TaskCount};

/// Counts are read from the store at most once in this time, however often they are scraped.
const MAX_AGE: Duration = Duration::from_secs(5);

/// Counts over all accounts and nodes.
#[derive(Clone)]
pub(crate) struct StoreCounts {
    pub(crate) backlog: Backlog,
    /// Since when the oldest row without an owner has been due, without rows of paused endpoints.
    pub(crate) due_since: Option<Timestamp>,
    pub(crate) endpoints: EndpointStates,
    pub(crate) tasks: Vec<TaskCount>,
}

/// Keeps the counts for [`MAX_AGE`].
#[derive(Default)]
pub(crate) struct StoreCountsCache(Mutex<Option<(Instant, StoreCounts)>>);

impl StoreCountsCache {
    pub(crate) fn get(&self, now: Instant) -> Option<StoreCounts> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, counts) = counts.as_ref()?;
        (now.saturating_duration_since(*read_at) < MAX_AGE).then(|| counts.clone())
    }

    pub(crate) fn put(&self, counts: StoreCounts, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, counts));
    }
}
