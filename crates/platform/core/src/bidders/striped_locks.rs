//! Locks by UUID on this node. They are not needed for correctness, which the versions in the store guarantee: they
//! keep concurrent decisions of one bidder, or retries of one customer, from conflicting again and again.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};
use uuid::Uuid;

/// Bidders that can be told apart; others wait for each other as long as a commit takes.
const QUEUES: usize = 1_024;

/// Queues by registration.
pub(crate) struct StripedLocks(Vec<Arc<Mutex<()>>>);

impl StripedLocks {
    pub(crate) fn new() -> Self {
        Self((0..QUEUES).map(|_| Arc::default()).collect())
    }

    /// Waits until no other bid of this bidder is under way here. The place is kept until the guard goes.
    pub(crate) async fn lock(&self, registration: Uuid) -> Option<OwnedMutexGuard<()>> {
        // The last bytes of a UUID of version 7 are random.
        let place = registration.as_u128() % QUEUES as u128;
        let queue = self.0.get(usize::try_from(place).ok()?)?;
        Some(Arc::clone(queue).lock_owned().await)
    }
}
