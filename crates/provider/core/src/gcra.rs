//! Generic cell rate algorithm (GCRA): a rate limit with a burst that needs one stored time.
//!
//! That time is the theoretical arrival time (TAT): when the calls so far would end if they were evenly spaced. Each caller
//! of this module keeps the TAT on its own clock and passes how far it is ahead of now.

use std::time::Duration;

/// A rate with a burst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gcra {
    /// Time between two calls at exactly the rate.
    pub(crate) interval: Duration,
    /// How far the TAT may be ahead of now when a call is made.
    pub(crate) tolerance: Duration,
}

impl Gcra {
    /// Makes a call. `ahead` is how far the TAT is ahead of now, zero when it has passed. Returns `ahead` after the call,
    /// or how long to wait for the next call.
    pub(crate) fn take(self, ahead: Duration) -> Result<Duration, Duration> {
        self.check(ahead)?;
        Ok(ahead.saturating_add(self.interval))
    }

    /// How long to wait when the limit is exceeded.
    pub(crate) fn check(self, ahead: Duration) -> Result<(), Duration> {
        match ahead.saturating_sub(self.tolerance) {
            Duration::ZERO => Ok(()),
            wait => Err(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_one_call_per_interval() {
        let gcra = Gcra { interval: Duration::from_millis(10), tolerance: Duration::from_millis(20) };
        let mut ahead = Duration::ZERO;
        for _ in 0..3 {
            ahead = gcra.take(ahead).unwrap();
        }
        assert_eq!(ahead, Duration::from_millis(30));
        assert_eq!(gcra.take(ahead), Err(Duration::from_millis(10)));
        assert_eq!(gcra.take(Duration::from_millis(20)), Ok(ahead));
    }
}
