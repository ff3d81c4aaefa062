//! How long to wait before trying again.

use std::time::Duration;

/// The pause before try `attempt` + 1, when `attempt` of them (from 1) have failed: `base` doubled each time, at most `cap`,
/// and of that an evenly drawn part from half to the whole, so that those who failed together don't come back together.
///
/// `unit_f64` is from 0 to 1: see [`crate::random::Random::unit_f64`]. An `attempt` of 0 is taken as 1.
pub fn backoff(attempt: u32, base: Duration, cap: Duration, unit_f64: f64) -> Duration {
    let doublings = attempt.saturating_sub(1).min(31);
    let whole = base.saturating_mul(1 << doublings).min(cap);
    whole.mul_f64(0.5 + unit_f64.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_millis(100);
    const CAP: Duration = Duration::from_secs(60);

    #[test]
    fn the_pause_doubles_up_to_the_cap() {
        for (attempt, ms) in
            [(0, 100), (1, 100), (2, 200), (3, 400), (10, 51_200), (11, 60_000), (33, 60_000), (u32::MAX, 60_000)]
        {
            assert_eq!(backoff(attempt, BASE, CAP, 1.0), Duration::from_millis(ms), "attempt {attempt}");
        }
    }

    #[test]
    fn jitter_takes_at_most_half() {
        assert_eq!(backoff(2, BASE, CAP, 0.0), Duration::from_millis(100));
        assert_eq!(backoff(2, BASE, CAP, 0.5), Duration::from_millis(150));
        assert_eq!(backoff(2, BASE, CAP, 7.0), Duration::from_millis(200));
    }
}
