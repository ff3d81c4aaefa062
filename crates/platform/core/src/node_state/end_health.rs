//! Health of the item ends: whether due items can be ended.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::PlatformResult;
use crate::port::{StoreError, StoreResult};

/// Ends may fail this long before the health check fails. A shorter outage heals without an operator.
const FAILING_MAX: Duration = Duration::from_secs(10);

/// When the runs of the worker began to fail. Empty after a run that succeeded.
#[derive(Default)]
pub(crate) struct EndHealth(Mutex<Option<Instant>>);

impl EndHealth {
    pub(crate) fn record<T>(&self, run: &PlatformResult<T>, now: Instant) {
        let mut failing_since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match run {
            Ok(_) => *failing_since = None,
            Err(_) => {
                failing_since.get_or_insert(now);
            }
        }
    }

    /// `Unavailable` when every run of the last ten seconds failed.
    pub(crate) fn check(&self, now: Instant) -> StoreResult<()> {
        let failing_since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failing_for = failing_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if failing_for < FAILING_MAX {
            return Ok(());
        }
        Err(StoreError::Unavailable(format!(
            "due items could not be ended for {} s; see the log",
            failing_for.as_secs()
        )))
    }
}
