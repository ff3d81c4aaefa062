//! The command queues of a node, one for each item with callers. [`crate::steps::decide_in_queue`] runs commands in them.

pub(crate) mod queue;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use self::queue::ItemQueue;

/// Callers in the queue of one item; further callers get `busy`.
const CALLERS_MAX: usize = 4_096;

/// The queues that have callers.
#[derive(Default)]
pub(crate) struct ItemQueues(Mutex<HashMap<Uuid, SharedQueue>>);

/// A queue with the number of its callers.
#[derive(Default)]
struct SharedQueue {
    queue: Arc<ItemQueue>,
    callers: usize,
}

impl ItemQueues {
    /// Adds a caller to the queue of an item; none when the queue is full.
    pub(crate) fn enter(&self, item: Uuid) -> Option<Arc<ItemQueue>> {
        let mut queues = self.lock();
        let shared = queues.entry(item).or_default();
        if shared.callers >= CALLERS_MAX {
            return None;
        }
        shared.callers += 1;
        Some(Arc::clone(&shared.queue))
    }

    /// Counts another caller of a queue.
    pub(crate) fn enter_again(&self, item: Uuid) {
        self.lock().entry(item).or_default().callers += 1;
    }

    /// Removes a caller. The queue is deleted with its last one.
    pub(crate) fn leave(&self, item: Uuid) {
        if let Entry::Occupied(mut shared) = self.lock().entry(item) {
            shared.get_mut().callers -= 1;
            if shared.get().callers == 0 {
                shared.remove();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, SharedQueue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
