//! Locks by UUID on this node. They are not needed for correctness, which the versions in the store guarantee: they
//! keep concurrent decisions of one bidder, or retries of one customer, from conflicting again and again.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};
use uuid::Uuid;

/// Number of locks. Two UUIDs can share a lock and then wait for each other, for the time of a commit.
const LOCKS: usize = 1_024;

/// A fixed number of locks, chosen by UUID.
pub(crate) struct StripedLocks(Vec<Arc<Mutex<()>>>);

impl StripedLocks {
    pub(crate) fn new() -> Self {
        Self((0..LOCKS).map(|_| Arc::default()).collect())
    }

    /// Takes the lock of this UUID; it is held until the guard is dropped.
    pub(crate) async fn lock(&self, uuid: Uuid) -> Option<OwnedMutexGuard<()>> {
        // The last bytes of a UUID of version 7 are random.
        let index = uuid.as_u128() % LOCKS as u128;
        let lock = self.0.get(usize::try_from(index).ok()?)?;
        Some(Arc::clone(lock).lock_owned().await)
    }
}
