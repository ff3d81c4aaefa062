//! Generic cell rate algorithm (GCRA): a rate limit with a burst that needs one stored time.
//!
//! That time is the theoretical arrival time (TAT): when the calls so far would end if they were evenly spaced. At that time
//! the whole burst is available again. Each user of this module keeps the TAT on a clock and in a place that suits it, in
//! memory or in a store, and passes how far the TAT is ahead of now: zero when it has passed.

use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A rate with a burst.
#[derive(Debug, Clone, Copy)]
pub struct Gcra {
    /// Time between two calls at exactly the rate.
    pub interval: Duration,
    /// How far the TAT may be ahead of now when a call is made.
    pub tolerance: Duration,
}

impl Gcra {
    /// `calls` at once (at least one), and one more after each `interval`.
    pub const fn with_burst(calls: u32, interval: Duration) -> Self {
        Self { interval, tolerance: interval.saturating_mul(calls.saturating_sub(1)) }
    }

    /// `calls` in each `window`: all of them at once, or evenly spaced.
    pub fn in_window(calls: u32, window: Duration) -> Self {
        Self::with_burst(calls, window / calls.max(1))
    }

    /// Makes a call. Returns how far the TAT is ahead after the call, or how long to wait for the next call.
    pub fn take(self, ahead: Duration) -> Result<Duration, Duration> {
        self.check(ahead)?;
        Ok(ahead.saturating_add(self.interval))
    }

    /// How long to wait when the limit is exceeded.
    pub fn check(self, ahead: Duration) -> Result<(), Duration> {
        match ahead.saturating_sub(self.tolerance) {
            Duration::ZERO => Ok(()),
            wait => Err(wait),
        }
    }

    /// How far the TAT is ahead when the burst is used up.
    pub fn ahead_max(self) -> Duration {
        self.tolerance.saturating_add(self.interval)
    }
}

/// Rounds up to whole seconds, the unit of `Retry-After`: a caller that waits for this time is not refused again.
pub fn whole_seconds(wait: Duration) -> Duration {
    Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_one_call_per_interval() {
        let gcra = Gcra::with_burst(3, Duration::from_millis(10));
        let mut ahead = Duration::ZERO;
        for _ in 0..3 {
            ahead = gcra.take(ahead).unwrap();
        }
        assert_eq!((ahead, gcra.ahead_max()), (Duration::from_millis(30), Duration::from_millis(30)));
        assert_eq!(gcra.take(ahead), Err(Duration::from_millis(10)));
        assert_eq!(gcra.take(Duration::from_millis(20)), Ok(ahead));
    }

    #[test]
    fn a_window_allows_its_calls_at_once_and_no_more() {
        for (calls, window_s) in [(1, 1), (7, 60), (70_000_000, 1)] {
            let gcra = Gcra::in_window(calls, Duration::from_secs(window_s));
            assert_eq!(gcra.check(gcra.interval * (calls - 1)), Ok(()), "{calls} in {window_s} s");
            assert_eq!(gcra.check(gcra.interval * calls), Err(gcra.interval), "{calls} in {window_s} s");
        }
    }

    #[test]
    fn retry_after_is_rounded_up_to_whole_seconds() {
        for (ms, seconds) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2)] {
            assert_eq!(whole_seconds(Duration::from_millis(ms)).as_secs(), seconds);
        }
    }
}
