//! Attempts that were made and are not on disk: how many, and for how long. Whatever keeps a recorder from coming on (a
//! store that is away or hangs, a task that is gone) shows here, also when everything is sent and answered as ever.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// The attempts of one recorder.
#[derive(Default)]
pub(super) struct Unrecorded {
    count: AtomicUsize,
    /// All that were ever made.
    made: AtomicU64,
    /// Those of them that are on disk or lost.
    ended: AtomicU64,
    /// Notified when a transaction with attempts has ended.
    written: Notify,
    /// Since when the oldest of them waits, or a little before. Of no meaning while there are none.
    since: Mutex<Option<Instant>>,
}

/// An attempt that is not on disk, from this moment until it is dropped.
pub(super) struct UnrecordedGuard {
    of: Arc<Unrecorded>,
    at: Instant,
}

impl Unrecorded {
    /// An attempt was made.
    pub(super) fn track(self: &Arc<Self>, now: Instant) -> UnrecordedGuard {
        self.made.fetch_add(1, Ordering::AcqRel);
        if self.count.fetch_add(1, Ordering::AcqRel) == 0 {
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        UnrecordedGuard { of: Arc::clone(self), at: now }
    }

    /// These are on disk, in the order in which they were made, or will never be: what is left was made after the last
    /// of them.
    pub(super) fn recorded(&self, marks: Vec<UnrecordedGuard>) {
        let Some(last) = marks.last().map(|mark| mark.at) else { return };
        drop(marks);
        self.written.notify_waiters();
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if self.count.load(Ordering::Acquire) > 0 {
            *since = Some(last);
        }
    }

    /// Waits until those that are in the recorder's queue now are on disk. The queue is written in order, so none of
    /// them is left when as many have ended as were made by now.
    pub(super) async fn wait(&self) {
        let made = self.made.load(Ordering::Acquire);
        loop {
            // It has to be enabled before the look at the number, or it misses a transaction that ends in between.
            let mut written = std::pin::pin!(self.written.notified());
            written.as_mut().enable();
            if self.ended.load(Ordering::Acquire) >= made {
                return;
            }
            written.await;
        }
    }

    /// How many there are, and since when the oldest waits.
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
    fn the_oldest_that_is_left_counts_and_one_that_is_lost_does_not() {
        let (unrecorded, began) = (Arc::new(Unrecorded::default()), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(unrecorded.count_and_oldest(), (0, None));
        let mut marks: Vec<UnrecordedGuard> = (1..=4).map(|seconds| unrecorded.track(at(seconds))).collect();
        assert_eq!(unrecorded.count_and_oldest(), (4, Some(at(1))));
        let left = marks.split_off(2);
        unrecorded.recorded(marks);
        assert_eq!(unrecorded.count_and_oldest(), (2, Some(at(2))), "no later than it was");
        unrecorded.recorded(left);
        assert_eq!(unrecorded.count_and_oldest(), (0, None));
        let lost = unrecorded.track(at(9));
        assert_eq!(unrecorded.count_and_oldest(), (1, Some(at(9))), "what was before does not count");
        // As when the task that had it panics.
        drop(lost);
        assert_eq!(unrecorded.count_and_oldest(), (0, None));
    }

    #[test]
    fn who_waits_waits_for_what_was_made_before() {
        let (unrecorded, now) = (Arc::new(Unrecorded::default()), Instant::now());
        let [first, second] = [unrecorded.track(now), unrecorded.track(now)];
        let mut waiting = Box::pin(unrecorded.wait());
        let mut poll = || (&mut waiting).now_or_never().is_some();
        assert!(!poll());
        let later = unrecorded.track(now);
        unrecorded.recorded(vec![first]);
        assert!(!poll());
        unrecorded.recorded(vec![second]);
        assert!(poll(), "what was made later is not waited for");
        unrecorded.recorded(vec![later]);
        assert!(unrecorded.wait().now_or_never().is_some());
    }
}
