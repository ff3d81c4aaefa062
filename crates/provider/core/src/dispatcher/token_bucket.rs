//! A rate limit: a number of attempts per second, evenly spaced.

use std::num::NonZeroU16;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::{from_ms, to_ms};

/// After a pause, this part of a second's attempts may go out at once.
const BURST: SignedDuration = SignedDuration::from_millis(50);

/// Attempts per second, divided evenly among the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThrottleRate {
    pub(super) per_second: NonZeroU16,
    /// Nodes that keep it together; at least one.
    pub(super) nodes: i32,
}

impl ThrottleRate {
    /// Between two attempts of this node.
    fn spacing(self) -> SignedDuration {
        SignedDuration::from_secs(1) * self.nodes.max(1) / i32::from(u16::from(self.per_second))
    }
}

/// Spaces attempts by keeping the time at which the next one is due if they were perfectly even.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenBucket {
    rate: Option<ThrottleRate>,
    due: Option<Timestamp>,
}

impl TokenBucket {
    pub(super) fn set_rate(&mut self, rate: Option<ThrottleRate>) {
        self.rate = rate;
    }

    /// Takes the right to one attempt, or says when there is one.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        let Some(rate) = self.rate else { return Ok(()) };
        let spacing = rate.spacing();
        // A clock that was set back must not stop the endpoint: a due time is never further than a spacing and a burst.
        let due = self.due.filter(|due| *due <= now + spacing + BURST).unwrap_or(now).max(now - BURST);
        if due > now {
            // Rounded up to the clock's milliseconds, so that the time is not a bit too early.
            return Err(from_ms(to_ms(due) + 1));
        }
        self.due = Some(due + spacing);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rate: u16, nodes: i32) -> Option<ThrottleRate> {
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
    fn a_second_has_as_many_attempts_as_its_rate_says() {
        for rate in [1, 2, 10, 100, 999, 20_000] {
            for made in attempts_per_second(rate) {
                let rate = usize::from(rate);
                // What the last millisecond rounds away, and the burst.
                let expected = rate - rate / 500..=rate + rate / 20 + 1;
                assert!(expected.contains(&made), "{made} at a rate of {rate}");
            }
        }
    }

    #[test]
    fn three_nodes_together_keep_a_rate_that_one_of_them_could_not_be_given_a_part_of() {
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
    fn no_rate_is_no_limit_and_a_clock_set_back_stops_nothing() {
        let mut bucket = TokenBucket::default();
        assert!((0..1_000).all(|_| bucket.take(from_ms(5)).is_ok()));
        bucket.set_rate(of(1, 1));
        assert_eq!(bucket.take(from_ms(1_700_000_000_000)), Ok(()));
        assert_eq!(bucket.take(from_ms(1_600_000_000_000)), Ok(()));
    }
}
