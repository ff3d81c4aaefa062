//! Numbers of rows that retention has removed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of rows that this process has removed since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RetentionCounts {
    /// Payloads that were removed before their messages.
    pub payloads: u64,
    /// Removed attempts.
    pub attempts: u64,
    /// Removed messages.
    pub messages: u64,
}

#[derive(Default)]
pub(crate) struct RetentionCounters {
    pub(crate) payloads: AtomicU64,
    pub(crate) attempts: AtomicU64,
    pub(crate) messages: AtomicU64,
}

impl RetentionCounters {
    pub(crate) fn counts(&self) -> RetentionCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RetentionCounts {
            payloads: count(&self.payloads),
            attempts: count(&self.attempts),
            messages: count(&self.messages),
        }
    }
}
