//! The leases under which this node owns delivery rows.
//!
//! Each delivery row in memory holds the lease ([`NodeLease`]) that owns it in the table. If the current lease may own
//! a row that memory does not know (the store did not report whether it committed, or a task panicked), the node fences
//! the lease and takes a new one. The heartbeat renews the old lease while a row in memory holds it. Then the old lease
//! expires, and the rows that it still owns become due, like those of a dead node.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::ids::{self, Ids};
use crate::port::NodeId;

/// A lease, identified by a node name. Each delivery in memory holds the lease that owns its row.
pub(super) type NodeLease = Arc<NodeId>;

/// Maximum number of live leases. Beyond it, a fenced lease is replaced when another lease ends.
const LEASES_MAX: usize = 16;

pub(super) struct NodeLeases {
    ids: Ids,
    /// None before the first heartbeat and during shutdown: deliveries then wait in the table.
    current: RwLock<Option<NodeLease>>,
    live: Mutex<Vec<NodeLease>>,
    fenced: AtomicBool,
}

impl NodeLeases {
    pub(super) fn new(ids: Ids) -> Self {
        Self { ids, current: RwLock::default(), live: Mutex::default(), fenced: AtomicBool::new(false) }
    }

    /// The lease for new claims.
    pub(super) fn current(&self) -> Option<NodeLease> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fences the current lease, because it may own rows that memory does not know.
    pub(super) fn fence(&self) {
        self.fenced.store(true, Ordering::Release);
    }

    /// A new lease for [`NodeLeases::activate`], if there is no current lease or it is fenced.
    pub(super) fn next_lease(&self) -> Option<NodeLease> {
        let fenced = self.fenced.load(Ordering::Acquire) && self.live().len() < LEASES_MAX;
        if fenced || self.current().is_none() { Some(Arc::new(NodeId(self.ids.make(ids::NODE)))) } else { None }
    }

    /// Makes a lease current after its first heartbeat.
    pub(super) fn activate(&self, lease: NodeLease) {
        self.fenced.store(false, Ordering::Release);
        self.lock_live().push(Arc::clone(&lease));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(lease);
    }

    /// Stops new claims, for shutdown.
    pub(super) fn stop_claiming(&self) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The leases that the heartbeat renews. Leases that no delivery in memory holds are removed.
    pub(super) fn live(&self) -> Vec<NodeLease> {
        let mut live = self.lock_live();
        live.retain(|lease| Arc::strong_count(lease) > 1);
        live.clone()
    }

    fn lock_live(&self) -> std::sync::MutexGuard<'_, Vec<NodeLease>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::SystemClock;
    use kit_runtime::random::SeededRandom;

    use super::*;

    #[test]
    fn a_fenced_lease_is_renewed_while_rows_in_memory_hold_it() {
        let leases = NodeLeases::new(Ids::new(Arc::new(SystemClock), Arc::new(SeededRandom::new(1))));
        assert_eq!(leases.current(), None);
        leases.activate(leases.next_lease().unwrap());
        assert_eq!(leases.next_lease(), None);
        let held = leases.current().unwrap();
        leases.fence();
        leases.activate(leases.next_lease().unwrap());
        assert_ne!(leases.current().unwrap(), held);
        assert_eq!(leases.live().len(), 2);
        drop(held);
        assert_eq!(leases.live(), [leases.current().unwrap()]);
    }
}
