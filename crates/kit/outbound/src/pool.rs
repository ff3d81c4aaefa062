//! Connections that are kept for the next request to the same place.
//!
//! Whoever has a connection out drives it ([`Connection`]): there is no task beside a request, and no message between
//! two. An idle connection is looked at when it is taken, and closed when its time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::Connection;
use crate::destination::Origin;

/// Clones share the connections.
#[derive(Clone)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    idle: Mutex<Idle>,
    idle_timeout: Duration,
    idle_per_origin_max: usize,
}

#[derive(Default)]
struct Idle {
    /// The one that was used last is at the end, and is taken first: the others may go.
    by_origin: HashMap<Origin, Vec<(Instant, Connection)>>,
    /// A task closes what was idle for too long.
    sweeper_is_running: bool,
}

impl Pool {
    pub(crate) fn new(idle_timeout: Duration, idle_per_origin_max: usize) -> Self {
        Self { shared: Arc::new(Shared { idle: Mutex::default(), idle_timeout, idle_per_origin_max }) }
    }

    /// An idle connection that is open as far as this side knows.
    pub(crate) fn take(&self, origin: &Origin) -> Option<Connection> {
        loop {
            let (since, mut connection) = self.shared.lock().by_origin.get_mut(origin)?.pop()?;
            if since.elapsed() < self.shared.idle_timeout && connection.is_open() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection that is ready for another request.
    pub(crate) fn put(&self, origin: &Origin, connection: Connection) {
        let mut idle = self.shared.lock();
        let kept = (Instant::now(), connection);
        match idle.by_origin.get_mut(origin) {
            Some(of_origin) if of_origin.len() >= self.shared.idle_per_origin_max => return,
            Some(of_origin) => of_origin.push(kept),
            None => drop(idle.by_origin.insert(origin.clone(), vec![kept])),
        }
        if !std::mem::replace(&mut idle.sweeper_is_running, true) {
            drop(idle);
            tokio::spawn(sweep(Arc::downgrade(&self.shared), self.shared.idle_timeout));
        }
    }
}

/// Runs for as long as there are idle connections, and their pool.
async fn sweep(pool: std::sync::Weak<Shared>, idle_timeout: Duration) {
    loop {
        tokio::time::sleep(idle_timeout).await;
        let Some(shared) = pool.upgrade() else { return };
        let mut idle = shared.lock();
        idle.by_origin.retain(|_, connections| {
            connections.retain_mut(|(since, connection)| since.elapsed() < idle_timeout && connection.is_open());
            !connections.is_empty()
        });
        if idle.by_origin.is_empty() {
            idle.sweeper_is_running = false;
            return;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
