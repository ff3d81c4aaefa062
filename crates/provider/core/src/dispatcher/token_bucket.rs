//! An attempt rate: a number of attempts per second, evenly spaced, with a small burst ([`Gcra`]).

use std::num::NonZeroU16;
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::{from_ms, to_ms};
use kit_runtime::gcra::Gcra;

/// After a pause, the attempts of this much time may be made at once.
const BURST: Duration = Duration::from_millis(50);

/// Attempts per second, divided evenly among the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThrottleRate {
    pub(super) per_second: NonZeroU16,
    /// Number of nodes that share the rate; at least one.
    pub(super) nodes: u32,
}

impl ThrottleRate {
    /// The rate of one node.
    fn gcra(self) -> Gcra {
        let interval = Duration::from_secs(1) * self.nodes.max(1) / u32::from(self.per_second.get());
        Gcra { interval, tolerance: BURST }
    }
}

/// Spaces attempts evenly. Without a rate it allows every attempt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenBucket {
    rate: Option<ThrottleRate>,
    /// The theoretical arrival time of [`Gcra`]; none before the first attempt.
    tat: Option<Timestamp>,
}

impl TokenBucket {
    pub(super) fn set_rate(&mut self, rate: Option<ThrottleRate>) {
        self.rate = rate;
    }

    /// Takes one attempt, or returns when the next is allowed.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        let Some(rate) = self.rate else { return Ok(()) };
        let gcra = rate.gcra();
        // A new bucket has no burst. A clock that was set back must not stop the endpoint, so a time that is too far
        // ahead counts as none.
        let ahead_max = BURST * 2 + gcra.interval;
        let tat = self.tat.filter(|tat| *tat <= now + ahead_max).unwrap_or(now + BURST);
        let ahead = Duration::try_from(tat.duration_since(now)).unwrap_or_default();
        match gcra.take(ahead) {
            Ok(ahead) => {
                self.tat = Some(now + ahead);
                Ok(())
            }
            // Rounded up to the clock's milliseconds: at that time an attempt is allowed.
            Err(wait) => Err(from_ms(to_ms(now + wait) + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rate: u16, nodes: u32) -> Option<ThrottleRate> {
        NonZeroU16::new(rate).map(|per_second| ThrottleRate { per_second, nodes })
    }

    /// Attempts in each second when as many as possible are made.
    fn attempts_per_second(rate: u16) -> Vec<usize> {
        let mut bucket = TokenBucket::default();
        bucket.set_rate(of(rate, 1));
        let start = 1_700_000_000_000;
        let taken = (0..3_000).map(|ms| (0..2_000).take_while(|_| bucket.take(from_ms(start + ms)).is_ok()).count());
        taken.collect::<Vec<_>>().chunks(1_000).map(|second| second.iter().sum()).collect()
    }

    #[test]
    fn a_second_has_as_many_attempts_as_the_rate_allows() {
        for rate in [1, 2, 10, 100, 999, 20_000] {
            for made in attempts_per_second(rate) {
                let rate = usize::from(rate);
                // Rounding to milliseconds loses attempts, and the burst adds some.
                let expected = rate - rate / 500..=rate + rate / 20 + 1;
                assert!(expected.contains(&made), "{made} at a rate of {rate}");
            }
        }
    }

    #[test]
    fn three_nodes_share_a_rate_of_one_attempt_per_second() {
        let mut buckets = [TokenBucket::default(); 3];
        let start = 1_700_000_000_000;
        let mut made = 0;
        for ms in 0..30_000 {
            for bucket in &mut buckets {
                bucket.set_rate(of(1, 3));
                made += usize::from(bucket.take(from_ms(start + ms)).is_ok());
            }
        }
        assert!((30..=33).contains(&made), "{made} in 30 s at a rate of 1");
    }

    #[test]
    fn without_a_rate_or_after_the_clock_is_set_back_attempts_are_allowed() {
        let mut bucket = TokenBucket::default();
        assert!((0..1_000).all(|_| bucket.take(from_ms(5)).is_ok()));
        bucket.set_rate(of(1, 1));
        assert_eq!(bucket.take(from_ms(1_700_000_000_000)), Ok(()));
        assert_eq!(bucket.take(from_ms(1_600_000_000_000)), Ok(()));
    }
}
