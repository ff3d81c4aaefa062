//! Notices when the machine's clock goes back, and logs it once.
//!
//! All parts of the server survive it: a sleeper reads the clock again, and a limit lasts at most its own window longer.
//! But sales end later than on a correct clock, so an operator has to know.

use std::sync::atomic::{AtomicI64, Ordering};

/// A smaller step is the ordinary work of a time service, or two threads that read the clock at the same time.
const STEP_MS_MIN: i64 = 1_000;

/// Remembers the latest time that was read.
#[derive(Debug)]
pub(super) struct ClockWatch {
    latest_ms: AtomicI64,
}

impl ClockWatch {
    pub(super) const fn new() -> Self {
        Self { latest_ms: AtomicI64::new(i64::MIN) }
    }

    /// Records the time, and logs once when it is at least a second before one that was read earlier.
    pub(super) fn observe(&self, now_ms: i64) {
        if let Some(step_ms) = self.step_back_ms(now_ms) {
            tracing::warn!(
                step_ms,
                "the machine's clock went back; timed sales and retries wait until it has reached their time again"
            );
        }
    }

    /// How far the clock went back; none if it did not, or if the step was reported already.
    fn step_back_ms(&self, now_ms: i64) -> Option<i64> {
        let latest_ms = self.latest_ms.load(Ordering::Relaxed);
        let step_ms = latest_ms.saturating_sub(now_ms);
        // Most readers within one millisecond find nothing to do.
        if step_ms == 0 || (step_ms > 0 && step_ms < STEP_MS_MIN) {
            return None;
        }
        // Of several threads only one replaces the latest time, and only that one reports the step.
        let is_replaced =
            self.latest_ms.compare_exchange(latest_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        (is_replaced && step_ms > 0).then_some(step_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_is_reported_once_for_each_step() {
        let watch = ClockWatch::new();
        let start_ms = 1_795_242_483_123;
        for (now_ms, reported) in [
            (start_ms, None),
            (start_ms + 5_000, None),
            (start_ms + 4_001, None),
            (start_ms - 3_600_000, Some(3_605_000)),
            (start_ms - 3_600_000, None),
            (start_ms - 3_599_000, None),
            (start_ms - 3_700_000, Some(101_000)),
            (start_ms + 10_000, None),
        ] {
            assert_eq!(watch.step_back_ms(now_ms), reported, "{now_ms}");
        }
    }
}
