//! The machine's clock, for production.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

use super::went_back::ClockWatch;
use super::{Clock, from_ms, to_ms};

/// A sleeper reads the wall clock at least this often, so that it notices when the clock was set.
const CLOCK_CHECK_INTERVAL_MAX: Duration = Duration::from_secs(5);

static CLOCK_WATCH: ClockWatch = ClockWatch::new();

/// The machine's clock. The only reader of the wall clock in the workspace.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that all other code gets as a parameter")]
    fn now(&self) -> Timestamp {
        // Whole milliseconds from the start: cheaper than truncating later. A clock set before 1970 reads as 1970.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX);
        CLOCK_WATCH.observe(now_ms);
        from_ms(now_ms)
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            loop {
                let remaining_ms = to_ms(at).saturating_sub(to_ms(self.now()));
                if remaining_ms <= 0 && self.now() >= at {
                    return;
                }
                // A time within the current millisecond is reached in the next one.
                let pause = Duration::from_millis(remaining_ms.max(1).unsigned_abs());
                tokio::time::sleep(pause.min(CLOCK_CHECK_INTERVAL_MAX)).await;
            }
        })
    }

    fn monotonic(&self) -> Instant {
        Instant::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_has_no_fraction_of_a_millisecond() {
        assert_eq!(SystemClock.now().as_nanosecond() % 1_000_000, 0);
    }

    #[tokio::test]
    async fn a_sleeper_wakes_at_its_time_and_not_before() {
        let at = from_ms(to_ms(SystemClock.now()) + 15);
        SystemClock.sleep_until(at).await;
        assert!(SystemClock.now() >= at);
        SystemClock.sleep_until(Timestamp::MIN).await;
    }
}
