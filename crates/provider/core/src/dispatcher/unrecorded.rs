//! Counts finished attempts that are not recorded yet, and how long the oldest of them has waited. Both show that a
//! recorder is blocked (by an unavailable store, or because its task ended), even while deliveries and responses
//! continue.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// The unrecorded attempts of one recorder.
#[derive(Default)]
pub(super) struct Unrecorded {
    count: AtomicUsize,
    /// Attempts since the start.
    made: AtomicU64,
    /// Attempts of `made` that are recorded or lost.
    ended: AtomicU64,
    /// Notified when a transaction with attempts has ended.
    written: Notify,
    /// Since when the oldest unrecorded attempt waits, or slightly earlier. Meaningless while `count` is zero.
    since: Mutex<Option<Instant>>,
}

/// Counts an attempt as unrecorded until it is dropped.
pub(super) struct UnrecordedGuard {
    of: Arc<Unrecorded>,
    at: Instant,
}

impl Unrecorded {
    /// Counts a finished attempt.
    pub(super) fn track(self: &Arc<Self>, now: Instant) -> UnrecordedGuard {
        self.made.fetch_add(1, Ordering::AcqRel);
        if self.count.fetch_add(1, Ordering::AcqRel) == 0 {
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        UnrecordedGuard { of: Arc::clone(self), at: now }
    }

    /// Ends these attempts, which are recorded, or can't be. They are in the order in which they finished, so the
    /// remaining attempts are later than the last of them.
    pub(super) fn recorded(&self, marks: Vec<UnrecordedGuard>) {
        let Some(last) = marks.last().map(|mark| mark.at) else { return };
        drop(marks);
        self.written.notify_waiters();
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if self.count.load(Ordering::Acquire) > 0 {
            *since = Some(last);
        }
    }

    /// Waits until the attempts in the recorder's queue are recorded. The queue is written in order, so all of them
    /// have ended when `ended` reaches the current value of `made`.
    pub(super) async fn wait(&self) {
        let made = self.made.load(Ordering::Acquire);
        loop {
            // Enabled before the number is read, or it misses a transaction that ends in between.
            let mut written = std::pin::pin!(self.written.notified());
            written.as_mut().enable();
            if self.ended.load(Ordering::Acquire) >= made {
                return;
            }
            written.await;
        }
    }

    /// The number of unrecorded attempts, and since when the oldest waits.
    pub(super) fn count_and_oldest(&self) -> (usize, Option<Instant>) {
        let count = self.count.load(Ordering::Acquire);
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        (count, since.filter(|_| count > 0))
    }
}

impl Drop for UnrecordedGuard {
    fn drop(&mut self) {
        self.of.ended.fetch_add(1, Ordering::AcqRel);
        self.of.count.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn the_oldest_remaining_attempt_counts_and_a_lost_attempt_does_not() {
        let (unrecorded, began) = (Arc::new(Unrecorded::default()), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(unrecorded.count_and_oldest(), (0, None));
        let mut marks: Vec<UnrecordedGuard> = (1..=4).map(|seconds| unrecorded.track(at(seconds))).collect();
        assert_eq!(unrecorded.count_and_oldest(), (4, Some(at(1))));
        let left = marks.split_off(2);
        unrecorded.recorded(marks);
        assert_eq!(unrecorded.count_and_oldest(), (2, Some(at(2))), "the time is not later than the oldest attempt");
        unrecorded.recorded(left);
        assert_eq!(unrecorded.count_and_oldest(), (0, None));
        let lost = unrecorded.track(at(9));
        assert_eq!(unrecorded.count_and_oldest(), (1, Some(at(9))), "earlier attempts do not count");
        // As when the task of the attempt panics.
        drop(lost);
        assert_eq!(unrecorded.count_and_oldest(), (0, None));
    }

    #[test]
    fn a_wait_covers_only_the_attempts_made_before_it() {
        let (unrecorded, now) = (Arc::new(Unrecorded::default()), Instant::now());
        let [first, second] = [unrecorded.track(now), unrecorded.track(now)];
        let mut waiting = Box::pin(unrecorded.wait());
        let mut poll = || (&mut waiting).now_or_never().is_some();
        assert!(!poll());
        let later = unrecorded.track(now);
        unrecorded.recorded(vec![first]);
        assert!(!poll());
        unrecorded.recorded(vec![second]);
        assert!(poll(), "later attempts are not waited for");
        unrecorded.recorded(vec![later]);
        assert!(unrecorded.wait().now_or_never().is_some());
    }
}
