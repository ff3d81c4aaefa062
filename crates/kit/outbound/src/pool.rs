//! The pool of idle connections.
//!
//! The caller that takes a connection drives it ([`Connection`]); no task runs beside a request. The pool checks an
//! idle connection when it is taken, and one task closes the connections that were idle for too long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::connection::Connection;
use crate::destination::Origin;

/// The pool. Clones share the connections.
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
    /// The most recently used connection is last and is taken first, so that the others reach their timeout.
    by_origin: HashMap<Origin, Vec<(Instant, Connection)>>,
    /// Whether a task runs that closes connections at their timeout.
    sweeper_is_running: bool,
}

impl Pool {
    pub(crate) fn new(idle_timeout: Duration, idle_per_origin_max: usize) -> Self {
        Self { shared: Arc::new(Shared { idle: Mutex::default(), idle_timeout, idle_per_origin_max }) }
    }

    /// An idle connection that is still open as far as the client knows.
    pub(crate) fn take(&self, origin: &Origin) -> Option<Connection> {
        loop {
            let (since, mut connection) = self.shared.lock().by_origin.get_mut(origin)?.pop()?;
            if since.elapsed() < self.shared.idle_timeout && connection.is_open() {
                return Some(connection);
            }
        }
    }

    /// Adds a connection that is ready for another request.
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

/// Closes connections at their timeout; ends with the last idle connection or with the pool.
async fn sweep(pool: std::sync::Weak<Shared>, idle_timeout: Duration) {
    // An interval must not be zero.
    let period = idle_timeout.max(Duration::from_millis(1));
    let mut interval = tokio::time::interval_at(Instant::now() + period, period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
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
