//! Time limits of the steps of a request.

use std::time::Duration;

use tokio::time::Instant;
use tokio::time::error::Elapsed;

/// For a duration that exceeds what a clock can count.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3_600);

/// When a step has to end, and the configured duration that an error names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit {
    at: Instant,
    pub(crate) ms: u64,
}

impl TimeLimit {
    /// The limit of a step that began at `began`.
    pub(crate) fn since(began: Instant, duration: Duration) -> Self {
        let at = began.checked_add(duration).unwrap_or_else(|| began + FOREVER);
        Self { at, ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX) }
    }

    /// The limit that is reached first.
    pub(crate) fn or_sooner(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// Runs a step until the limit.
    pub(crate) fn run<F: Future>(self, step: F) -> impl Future<Output = Result<F::Output, Elapsed>> {
        tokio::time::timeout_at(self.at, step)
    }
}
