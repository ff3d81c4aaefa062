//! Connections that are kept for the next request to the same place.
//!
//! Whoever has a connection out drives it ([`Connection`]): there is no task beside a request, and no message between
//! two. An idle connection is looked at when it is taken, and closed when its time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::connection::Connection;
use crate::destination::Place;

/// Clones share the connections.
#[derive(Clone)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    idle: Mutex<Idle>,
    idle_timeout: Duration,
    per_place_max: usize,
}

#[derive(Default)]
struct Idle {
    /// The one that was used last is at the end, and is taken first: the others may go.
    places: HashMap<Place, Vec<(Instant, Connection)>>,
    /// A task closes what was idle for too long.
    swept: bool,
}

impl Pool {
    pub(crate) fn new(idle_timeout: Duration, per_place_max: usize) -> Self {
        Self { shared: Arc::new(Shared { idle: Mutex::default(), idle_timeout, per_place_max }) }
    }

    /// An idle connection that is open as far as this side knows.
    pub(crate) fn take(&self, place: &Place) -> Option<Connection> {
        loop {
            let (since, mut connection) = self.shared.lock().places.get_mut(place)?.pop()?;
            if since.elapsed() < self.shared.idle_timeout && connection.is_open() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection that is ready for another request.
    pub(crate) fn keep(&self, place: &Place, connection: Connection) {
        let mut idle = self.shared.lock();
        let kept = (Instant::now(), connection);
        match idle.places.get_mut(place) {
            Some(of_place) if of_place.len() >= self.shared.per_place_max => return,
            Some(of_place) => of_place.push(kept),
            None => drop(idle.places.insert(place.clone(), vec![kept])),
        }
        if !std::mem::replace(&mut idle.swept, true) {
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
        idle.places.retain(|_, connections| {
            connections.retain_mut(|(since, connection)| since.elapsed() < idle_timeout && connection.is_open());
            !connections.is_empty()
        });
        if idle.places.is_empty() {
            idle.swept = false;
            return;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
