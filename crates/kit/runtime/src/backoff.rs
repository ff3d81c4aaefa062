//! Exponential backoff with jitter, and the real pause between two tries. The publisher, the dispatcher and the workers use it.

use std::time::Duration;

/// The pause after `attempt` failed attempts (counted from 1): `base`, doubled for each further attempt up to `cap`,
/// times a random factor from 0.5 to 1. The jitter keeps callers that failed together from retrying together.
///
/// `unit_f64` is the random number, from 0 to 1: see [`crate::random::Random::unit_f64`]. An `attempt` of 0 counts as
/// 1.
pub fn backoff(attempt: u32, base: Duration, cap: Duration, unit_f64: f64) -> Duration {
    let doublings = attempt.saturating_sub(1).min(31);
    let whole = base.saturating_mul(1 << doublings).min(cap);
    whole.mul_f64(0.5 + unit_f64.clamp(0.0, 1.0) / 2.0)
}

/// Waits in real time before another try against a database or a peer.
///
/// Times of a sale, a retry schedule or a limit are not for this: they come from a [`Clock`](crate::clock::Clock), which a test
/// can move.
pub async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
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
