//! The names under which this node holds deliveries.
//!
//! A delivery row belongs to a name, and whatever stands for the row in memory holds that name ([`Holder`]). When a row may
//! have been given to the current name without anything in memory knowing of it (the store didn't say whether it had
//! committed; a task panicked), the node takes a new name. The old one lives on as long as something is held under it.
//! Then it is heard of no more, and what it still owns becomes due, like everything of a node that died.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::ids::{self, Ids};
use crate::port::NodeId;

/// A name, held as long as something in memory stands for a row that it owns.
pub(super) type Holder = Arc<NodeId>;

/// Names living at the same time at most; a doubt beyond that waits until one of them is done.
const NAMES_MAX: usize = 16;

pub(super) struct Names {
    ids: Ids,
    /// None before the store has heard of the node, and once it is about to end: rows then wait in the table.
    current: RwLock<Option<Holder>>,
    living: Mutex<Vec<Holder>>,
    doubtful: AtomicBool,
}

impl Names {
    pub(super) fn new(ids: Ids) -> Self {
        Self { ids, current: RwLock::default(), living: Mutex::default(), doubtful: AtomicBool::new(false) }
    }

    /// The name to take rows under.
    pub(super) fn current(&self) -> Option<Holder> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Rows may belong to the current name that nothing in memory knows of.
    pub(super) fn doubt(&self) {
        self.doubtful.store(true, Ordering::Release);
    }

    /// The name to become the current one with [`Names::take`], when there is none yet or the current one is in doubt.
    pub(super) fn wanted(&self) -> Option<Holder> {
        let doubtful = self.doubtful.load(Ordering::Acquire) && self.living().len() < NAMES_MAX;
        if doubtful || self.current().is_none() { Some(Arc::new(NodeId(self.ids.make(ids::NODE)))) } else { None }
    }

    /// Takes a name that the store has heard of.
    pub(super) fn take(&self, name: Holder) {
        self.doubtful.store(false, Ordering::Release);
        self.lock_living().push(Arc::clone(&name));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(name);
    }

    /// Takes rows under no name any more.
    pub(super) fn retire(&self) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The names that the store is to hear of. Those that nothing is held under any more are let go.
    pub(super) fn living(&self) -> Vec<Holder> {
        let mut living = self.lock_living();
        living.retain(|name| Arc::strong_count(name) > 1);
        living.clone()
    }

    fn lock_living(&self) -> std::sync::MutexGuard<'_, Vec<Holder>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::SystemClock;
    use kit_runtime::random::SeededRandom;

    use super::*;

    #[test]
    fn a_name_in_doubt_lives_on_as_long_as_something_is_held_under_it() {
        let names = Names::new(Ids::new(Arc::new(SystemClock), Arc::new(SeededRandom::new(1))));
        assert_eq!(names.current(), None);
        names.take(names.wanted().unwrap());
        assert_eq!(names.wanted(), None);
        let held = names.current().unwrap();
        names.doubt();
        names.take(names.wanted().unwrap());
        assert_ne!(names.current().unwrap(), held);
        assert_eq!(names.living().len(), 2);
        drop(held);
        assert_eq!(names.living(), [names.current().unwrap()]);
    }
}
