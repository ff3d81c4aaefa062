//! A line for the log that thousands would write at once, when the database is away: one a second gets through and says how many
//! were kept back, so that the disk is not filled with the same.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const NEVER: u64 = u64::MAX;

/// Lets one a second through; a static beside the line.
#[derive(Debug)]
pub struct LogThrottle {
    begin: OnceLock<Instant>,
    last_s: AtomicU64,
    suppressed: AtomicU64,
}

impl LogThrottle {
    /// Nothing was said yet.
    pub const fn new() -> Self {
        Self { begin: OnceLock::new(), last_s: AtomicU64::new(NEVER), suppressed: AtomicU64::new(0) }
    }

    /// If the line may be written: how many were kept back since the last.
    pub fn allow(&self) -> Option<u64> {
        self.allow_at(self.begin.get_or_init(Instant::now).elapsed().as_secs())
    }

    fn allow_at(&self, now_s: u64) -> Option<u64> {
        let last_s = self.last_s.load(Ordering::Relaxed);
        let is_first = last_s != now_s
            && self.last_s.compare_exchange(last_s, now_s, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_first {
            return Some(self.suppressed.swap(0, Ordering::Relaxed));
        }
        self.suppressed.fetch_add(1, Ordering::Relaxed);
        None
    }
}

impl Default for LogThrottle {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_second_gets_through_and_counts_the_others() {
        let throttle = LogThrottle::new();
        assert_eq!(
            [0, 0, 0, 1, 1, 7].map(|second| throttle.allow_at(second)),
            [Some(0), None, None, Some(2), None, Some(1)]
        );
        assert_eq!(LogThrottle::new().allow(), Some(0));
    }
}
