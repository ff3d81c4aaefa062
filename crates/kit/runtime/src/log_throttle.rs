//! Limits a log line to one a second, with the number of suppressed lines. For failures that thousands of requests hit
//! at the same time, such as an unreachable database: the log must not fill the disk.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const NEVER: u64 = u64::MAX;

/// Allows one log line a second. Meant as a `static` beside the line.
#[derive(Debug)]
pub struct LogThrottle {
    begin: OnceLock<Instant>,
    last_s: AtomicU64,
    suppressed: AtomicU64,
}

impl LogThrottle {
    /// A throttle that has allowed no line yet.
    pub const fn new() -> Self {
        Self { begin: OnceLock::new(), last_s: AtomicU64::new(NEVER), suppressed: AtomicU64::new(0) }
    }

    /// If the line may be written, the number of lines suppressed since the last one.
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
    fn one_line_a_second_is_allowed_and_the_others_are_counted() {
        let throttle = LogThrottle::new();
        assert_eq!(
            [0, 0, 0, 1, 1, 7].map(|second| throttle.allow_at(second)),
            [Some(0), None, None, Some(2), None, Some(1)]
        );
        assert_eq!(LogThrottle::new().allow(), Some(0));
    }
}
