//! The publisher: brings announced events from the outbox to the customers' providers (decisions, section 3).
//!
//! ```text
//!  a commit ── reserve ──> Publisher ── one lane per customer ──> Lane ── POST …/msg/ ──> the customer's provider
//!     │                        ^                                   │ ^                        │
//!     └── rows handed ─────────┘      claims what waits in the ────┘ └── judged: verdict.rs <─┘
//!         over in memory              outbox table                       settled in batches: settle.rs
//! ```
//!
//! Actors:
//! - *commits* (`commit.rs`) ask a lane for room and hand it the rows that became durable: in normal running nothing polls;
//! - a *lane* for each customer has its own bounded queue and its own bounded number of requests, so that one customer's
//!   provider never slows another's, nor a bid;
//! - its *flow* pauses the whole lane after a failure, and lets a single request try first when the pause is over;
//! - the *sweep* looks once a second for rows that a crash, a full lane or another process left in the table;
//! - the *heartbeat* says that this node lives, so that its rows stay its own.
//!
//! Guarantees:
//! - an event is published at least once, with the bytes of the outbox row and an `eventId` that makes repeating harmless;
//! - in order for one subject: the port only gives out the earliest row of a subject, and the next one only when that
//!   one was settled; different subjects go in parallel;
//! - 2xx and 409 settle an event; 429, 5xx, time-outs and connection errors try again later, `Retry-After` in full; 401,
//!   403 and 404 park the customer's queue with its events kept; another 4xx puts that one event aside;
//! - nothing is published for a customer without both credentials.
//!
//! When this node can't know which rows it holds (a claim or commit whose answer was lost), it takes a new name: the rows
//! under the old one become everybody's again after `node_dead_after`, and a 409 tells what was published already.

mod connection;
mod flow;
mod lane;
mod request;
mod retry_after;
mod settle;
mod upkeep;
mod verdict;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kit_runtime::batcher::Batcher;
use kit_runtime::clock::SharedClock;
use kit_runtime::random::SharedRandom;
use kit_runtime::signal::Signal;
use kit_runtime::vault::Vault;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::PublisherConfig;
use crate::metrics::Metrics;
use crate::port::{NodeId, OutboxEvent, OutboxOutcome, Store};
use settle::Recorded;

/// What a provider's answer means: the text for support, when it is not that the event was published.
#[cfg(feature = "fuzzing")]
pub(crate) fn judged(
    status: http::StatusCode,
    headers: &http::HeaderMap,
    body: &[u8],
    now: jiff::Timestamp,
) -> Option<String> {
    match verdict::judge(status, headers, body, now) {
        verdict::Verdict::Published => None,
        verdict::Verdict::Retry { error, .. } | verdict::Verdict::Quarantine { error } => Some(error),
        verdict::Verdict::Park { reason } => Some(reason),
    }
}

/// What a publisher stands on.
pub(crate) struct PublisherParts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) random: SharedRandom,
    pub(crate) vault: Arc<Vault>,
    pub(crate) client: kit_outbound::Client,
    pub(crate) config: PublisherConfig,
    pub(crate) metrics: Arc<Metrics>,
}

/// The publisher's handle. Clones are the same publisher.
#[derive(Clone)]
pub(crate) struct Publisher {
    shared: Arc<Shared>,
}

/// What all lanes have in common.
struct Shared {
    parts: PublisherParts,
    node: Mutex<NodeId>,
    /// Set once this node has said that it lives: rows given to a node that nobody knows would be nobody's at once.
    running: AtomicBool,
    /// Set when rows may be ours that we know nothing of.
    lost_track: AtomicBool,
    /// Rushes under way.
    rushes: AtomicUsize,
    lanes: Mutex<HashMap<Uuid, LaneHandle>>,
    /// Made by the first lane, on the runtime that the lanes run on.
    settling: Mutex<Option<Batcher<OutboxOutcome, Recorded>>>,
    stopping: CancellationToken,
}

/// A lane as the rest sees it.
struct LaneHandle {
    door: Arc<Door>,
    task: JoinHandle<()>,
}

/// What a lane shares with those who hand it events.
struct Door {
    events: mpsc::UnboundedSender<Held>,
    /// One permit for each event in the lane's memory; it bounds `events`.
    room: Arc<Semaphore>,
    /// False while the customer isn't connected or its queue is parked: rows wait in the table.
    open: AtomicBool,
    /// The connection may have changed.
    forget_connection: AtomicBool,
    /// Rows wait in the table, or the connection changed: look.
    wake: Signal,
}

/// An event in a lane's memory.
struct Held {
    event: OutboxEvent,
    /// When it came, by a steady clock.
    since: Instant,
    /// Its place in the lane; given back when it is dropped.
    _place: Option<OwnedSemaphorePermit>,
}

/// Room for the events of a commit that is about to be made.
pub(crate) struct Reservation {
    door: Arc<Door>,
    places: OwnedSemaphorePermit,
}

/// While it lives, lanes send little.
pub(crate) struct Rush {
    shared: Arc<Shared>,
}

impl Drop for Rush {
    fn drop(&mut self) {
        if self.shared.rushes.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.shared.lanes).values().for_each(|lane| lane.door.wake.notify());
        }
    }
}

impl Publisher {
    pub(crate) fn new(parts: PublisherParts, node: NodeId) -> Self {
        let shared = Shared {
            parts,
            node: Mutex::new(node),
            running: AtomicBool::new(false),
            lost_track: AtomicBool::new(false),
            rushes: AtomicUsize::new(0),
            lanes: Mutex::default(),
            settling: Mutex::default(),
            stopping: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The name under which this node holds rows.
    pub(crate) fn node(&self) -> NodeId {
        self.shared.node()
    }

    /// Room for `events` of a customer, if its lane has it.
    pub(crate) fn reserve(&self, customer: Uuid, events: usize) -> Option<Reservation> {
        let door = self.door(customer)?;
        if !door.open.load(Ordering::Acquire) {
            return None;
        }
        let places = Arc::clone(&door.room).try_acquire_many_owned(u32::try_from(events).ok()?).ok()?;
        Some(Reservation { door, places })
    }

    /// Until it is dropped, lanes send little: something that can't wait needs the machine.
    pub(crate) fn rush(&self) -> Rush {
        self.shared.rushes.fetch_add(1, Ordering::AcqRel);
        Rush { shared: Arc::clone(&self.shared) }
    }

    /// Rows of the customer wait in the table.
    pub(crate) fn rows_wait(&self, customer: Uuid) {
        if let Some(door) = self.door(customer) {
            door.wake.notify();
        }
    }

    /// The customer's connection changed: read it again before the next request.
    pub(crate) fn connection_changed(&self, customer: Uuid) {
        if let Some(door) = self.door(customer) {
            door.forget_connection.store(true, Ordering::Release);
            door.wake.notify();
        }
    }

    /// Rows may be ours that we know nothing of; mended by the heartbeat.
    pub(crate) fn lost_track(&self) {
        self.shared.lost_track.store(true, Ordering::Release);
    }

    /// The customer's lane, started if need be; none while the publisher doesn't run.
    fn door(&self, customer: Uuid) -> Option<Arc<Door>> {
        if !self.shared.running.load(Ordering::Acquire) || self.shared.stopping.is_cancelled() {
            return None;
        }
        let mut lanes = lock(&self.shared.lanes);
        if let Some(lane) = lanes.get(&customer).filter(|lane| !lane.task.is_finished()) {
            return Some(Arc::clone(&lane.door));
        }
        let (events, inbox) = mpsc::unbounded_channel();
        let door = Arc::new(Door {
            events,
            room: Arc::new(Semaphore::new(self.shared.parts.config.lane_events_max)),
            open: AtomicBool::new(true),
            forget_connection: AtomicBool::new(false),
            wake: Signal::new(),
        });
        let lane = lane::Lane::new(customer, Arc::clone(&self.shared), Arc::clone(&door), inbox);
        let task = tokio::spawn(lane.run());
        lanes.insert(customer, LaneHandle { door: Arc::clone(&door), task });
        Some(door)
    }
}

impl Shared {
    fn lane_requests_max(&self) -> usize {
        match self.rushes.load(Ordering::Acquire) {
            0 => self.parts.config.lane_requests_max,
            _ => self.parts.config.rush_requests_max,
        }
    }

    fn node(&self) -> NodeId {
        *lock(&self.node)
    }

    fn lost_track(&self) {
        self.lost_track.store(true, Ordering::Release);
    }
}

impl Reservation {
    /// Hands over the rows that the commit gave to this node.
    pub(crate) fn hand(&mut self, events: Vec<OutboxEvent>, now: Instant) {
        for event in events {
            let place = self.places.split(1);
            // A lane that has just ended loses nothing: it makes this node take a new name, see `Lane`'s drop.
            let _ = self.door.events.send(Held { event, since: now, _place: place });
        }
    }
}

/// A lock whose holders can't leave it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
