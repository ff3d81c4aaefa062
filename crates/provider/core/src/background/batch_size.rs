//! Number of messages in a step of a task: about as many as the endpoint receives in 250 ms to 1 s.

use std::time::{Duration, Instant};

const BATCH_FIRST: usize = 16;
const BATCH_MAX: usize = 512;
/// After a batch that was sent within this time, the next batch is larger.
const QUICK: Duration = Duration::from_millis(250);
/// After a batch that took this long, the next batch is smaller.
const SLOW: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct BatchSize {
    batch: usize,
    since: Instant,
}

impl BatchSize {
    pub(super) fn new(now: Instant) -> Self {
        Self { batch: BATCH_FIRST, since: now }
    }

    pub(super) fn batch(&self) -> usize {
        self.batch
    }

    /// Records that a batch was enqueued.
    pub(super) fn began(&mut self, now: Instant) {
        self.since = now;
    }

    /// Records that all messages of the batch were sent.
    pub(super) fn ended(&mut self, now: Instant) {
        let took = now.saturating_duration_since(self.since);
        if took <= QUICK {
            self.batch = (2 * self.batch).min(BATCH_MAX);
        } else if took >= SLOW {
            self.batch = (self.batch / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_endpoint_gets_larger_batches_and_a_slow_one_smaller() {
        let start = Instant::now();
        let mut batch_size = BatchSize::new(start);
        let mut after = |ms| {
            batch_size.began(start);
            batch_size.ended(start + Duration::from_millis(ms));
            batch_size.batch()
        };
        assert_eq!([1, 100, 250, 10, 10, 10].map(&mut after), [32, 64, 128, 256, 512, 512]);
        assert_eq!([500, 1_000, 9_000].map(&mut after), [512, 256, 128]);
        assert_eq!((0..10).map(|_| after(9_000)).last(), Some(1));
    }
}
