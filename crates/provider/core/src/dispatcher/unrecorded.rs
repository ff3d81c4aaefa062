//! Attempts that were made and are not on disk: how many, and for how long. Whatever keeps a recorder from coming on (a store that
//! is away or hangs, a task that is gone) shows here, also when everything is sent and answered as ever.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The attempts of one recorder.
#[derive(Default)]
pub(super) struct Unrecorded {
    count: AtomicUsize,
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
        if self.count.fetch_add(1, Ordering::AcqRel) == 0 {
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        UnrecordedGuard { of: Arc::clone(self), at: now }
    }

    /// These are on disk, in the order in which they were made, or will never be: what is left was made after the last of them.
    pub(super) fn recorded(&self, marks: Vec<UnrecordedGuard>) {
        let Some(last) = marks.last().map(|mark| mark.at) else { return };
        drop(marks);
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if self.count.load(Ordering::Acquire) > 0 {
            *since = Some(last);
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
        self.of.count.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
}
