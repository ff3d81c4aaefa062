//! The publisher: sends announced events from the outbox to the customers' providers.
//!
//! ```text
//!  a commit ── reserve ──> Publisher ── one lane per customer ──> Lane ── POST …/msg/ ──> the customer's provider
//!     │                        ^                                   │ ^                        │
//!     └── rows handed ─────────┘      claims waiting rows of ──────┘ └── verdict.rs <─────────┘
//!         over in memory              the outbox table                   outcomes.rs: recorded in batches
//! ```
//!
//! Actors:
//! - A *commit* (`commit.rs`) reserves room in a lane and hands it the durable rows: in normal operation nothing polls.
//! - A *lane* for each customer has its own bounded queue and its own limit of concurrent requests, so that a slow
//!   provider delays neither other customers nor a bid.
//! - Its *circuit breaker* pauses the lane after a failure and sends a single request when the pause is over.
//! - The *sweep* looks once a second for rows that a crash, a full lane or another process left in the table.
//! - The *heartbeat* keeps this node alive for the others, so that its rows stay its own. It and the sweep are workers of
//!   [`crate::outbox`].
//!
//! Guarantees:
//! - An event is published at least once, with the bytes of the outbox row and an `eventId` that makes repeats
//!   harmless.
//! - An event that the provider refuses because it has a message under this `eventId` (409) is compared with that message:
//!   see `conflict`.
//! - Events of one subject are published in order: the port assigns only the earliest row of a subject, and the next
//!   one after that one is settled. Different subjects are published in parallel.
//! - 2xx settles an event, and so does 409 if the message is the same. 429, 5xx, time-outs and connection errors are
//!   retried; `Retry-After` is honoured in full. 401, 403 and 404 park the customer's queue with its events. Another 4xx
//!   puts that one event into quarantine.
//! - Nothing is published for a customer without both credentials.
//!
//! If this node can't know which rows it owns (the answer to a claim or commit was lost), it takes a new node id. The
//! rows of the old id become unassigned after `node_dead_after`, and the provider answers 409 for events that it
//! already has.

pub(crate) mod circuit_breaker;
mod conflict;
mod connection;
mod lane;
mod outcomes;
mod request;
mod trace;
mod verdict;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use kit_runtime::batcher::Batcher;
use kit_runtime::clock::{SharedClock, to_ms};
use kit_runtime::random::SharedRandom;
use kit_runtime::signal::Signal;
use kit_runtime::trace::Tracer;
use kit_runtime::vault::Vault;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::PublisherConfig;
use crate::metrics::Metrics;
use crate::port::{NodeId, OutboxEvent, OutboxSettlement, Store};
use crate::provider_access::ProviderAccess;
use outcomes::Recorded;

/// Judges a provider's response: none when the event was published, otherwise the text for support.
#[cfg(feature = "fuzzing")]
pub(crate) fn judged(
    status: http::StatusCode,
    headers: &http::HeaderMap,
    body: &[u8],
    now: jiff::Timestamp,
) -> Option<String> {
    let verdict = verdict::judge(status, headers, body, now).unwrap_or_else(|| {
        // The same body as that of the existing message.
        let (headers, body) = (headers.clone(), bytes::Bytes::copy_from_slice(body));
        let read = kit_outbound::Response { status: http::StatusCode::OK, headers, body, truncated: false };
        conflict::judge_message(&read, &conflict::sample_event(0), now).0
    });
    match verdict {
        verdict::Verdict::Published => None,
        verdict::Verdict::Retry { error, .. } | verdict::Verdict::Quarantine { error } => Some(error),
        verdict::Verdict::Park { reason } => Some(reason),
    }
}

/// The dependencies of a publisher.
pub(crate) struct PublisherParts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) random: SharedRandom,
    pub(crate) vault: Arc<Vault>,
    pub(crate) providers: ProviderAccess,
    pub(crate) config: PublisherConfig,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tracer: Tracer,
}

/// A handle of the publisher. Clones share one publisher.
#[derive(Clone)]
pub(crate) struct Publisher {
    shared: Arc<Shared>,
}

/// The state that all lanes share.
struct Shared {
    parts: PublisherParts,
    node: Mutex<NodeId>,
    /// Set after this node's first heartbeat. Rows assigned to a node without one would be released immediately.
    running: AtomicBool,
    /// How often the installation was restored when this node started.
    restores: AtomicU32,
    /// Set when the store may have assigned rows to this node that no lane knows.
    fence_requested: AtomicBool,
    /// The number of [`ReducedSending`] guards.
    reductions: AtomicUsize,
    lanes: Mutex<HashMap<Uuid, LaneHandle>>,
    /// Customers of whom events were published since [`Publisher::take_published`].
    published: Mutex<HashSet<Uuid>>,
    /// Created by the first lane, on the runtime of the lanes.
    outcome_batcher: Mutex<Option<Batcher<OutboxSettlement, Recorded>>>,
    stopping: CancellationToken,
}

/// A lane and its task.
struct LaneHandle {
    control: Arc<LaneControl>,
    task: JoinHandle<()>,
}

/// The state that a lane shares with the commits that hand it events.
struct LaneControl {
    events: mpsc::UnboundedSender<QueuedEvent>,
    /// One permit for each event in the lane's memory; bounds `events`.
    room: Arc<Semaphore>,
    /// False while the customer isn't connected or its queue is parked: rows wait in the table.
    open: AtomicBool,
    /// True when the connection may have changed.
    connection_stale: AtomicBool,
    /// The latest change of the connection that a commit has read, in milliseconds.
    connection_seen_ms: AtomicI64,
    /// Wakes the lane: rows wait in the table, or the connection has changed.
    wake: Signal,
}

/// An event in a lane's memory.
struct QueuedEvent {
    event: OutboxEvent,
    /// When the lane received it, by a monotonic clock.
    since: Instant,
    /// Its place in the lane, which the drop releases.
    _permit: Option<OwnedSemaphorePermit>,
}

/// Places in a lane for the events of a coming commit.
pub(crate) struct Reservation {
    control: Arc<LaneControl>,
    permits: OwnedSemaphorePermit,
}

/// Lowers the concurrency of all lanes until it is dropped.
pub(crate) struct ReducedSending {
    shared: Arc<Shared>,
}

impl Drop for ReducedSending {
    fn drop(&mut self) {
        if self.shared.reductions.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.shared.lanes).values().for_each(|lane| lane.control.wake.notify());
        }
    }
}

impl Publisher {
    pub(crate) fn new(parts: PublisherParts, node: NodeId) -> Self {
        let shared = Shared {
            parts,
            node: Mutex::new(node),
            running: AtomicBool::new(false),
            restores: AtomicU32::new(0),
            fence_requested: AtomicBool::new(false),
            reductions: AtomicUsize::new(0),
            lanes: Mutex::default(),
            published: Mutex::default(),
            outcome_batcher: Mutex::default(),
            stopping: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The node id under which this node owns rows.
    pub(crate) fn node(&self) -> NodeId {
        self.shared.node()
    }

    /// Reserves places for `events` events of a customer; none when its lane is full or closed.
    pub(crate) fn reserve(&self, customer: Uuid, events: usize) -> Option<Reservation> {
        let control = self.lane_control(customer)?;
        if !control.open.load(Ordering::Acquire) {
            return None;
        }
        let permits = Arc::clone(&control.room).try_acquire_many_owned(u32::try_from(events).ok()?).ok()?;
        Some(Reservation { control, permits })
    }

    /// Lowers the concurrency of all lanes until the guard is dropped, because an urgent task needs the CPU.
    pub(crate) fn reduce_sending(&self) -> ReducedSending {
        self.shared.reductions.fetch_add(1, Ordering::AcqRel);
        ReducedSending { shared: Arc::clone(&self.shared) }
    }

    /// Wakes the lane of a customer whose rows wait in the table.
    pub(crate) fn wake_lane(&self, customer: Uuid) {
        if let Some(control) = self.lane_control(customer) {
            control.wake.notify();
        }
    }

    /// The customers of whom this node has published events since the last call.
    pub(crate) fn take_published(&self) -> Vec<Uuid> {
        lock(&self.shared.published).drain().collect()
    }

    /// Makes the lane read the changed connection of its customer before the next request.
    pub(crate) fn connection_changed(&self, customer: Uuid) {
        if let Some(control) = self.lane_control(customer) {
            control.connection_stale.store(true, Ordering::Release);
            control.wake.notify();
        }
    }

    /// Records that this node may own rows that it does not know. The heartbeat then takes a new node id.
    pub(crate) fn fence(&self) {
        self.shared.fence_requested.store(true, Ordering::Release);
    }

    /// True after this node's first heartbeat.
    pub(crate) fn is_running(&self) -> bool {
        self.shared.running.load(Ordering::Acquire)
    }

    /// Starts to own rows, in an installation that was restored `restores` times. False when it had started before.
    pub(crate) fn start(&self, restores: u32) -> bool {
        self.shared.restores.store(restores, Ordering::Release);
        !self.shared.running.swap(true, Ordering::AcqRel)
    }

    /// True when this node may own rows that no lane knows.
    pub(crate) fn is_fence_requested(&self) -> bool {
        self.shared.fence_requested.load(Ordering::Acquire)
    }

    /// Takes a new node id, which owns no rows yet.
    pub(crate) fn rename(&self, node: NodeId) {
        self.shared.fence_requested.store(false, Ordering::Release);
        *lock(&self.shared.node) = node;
    }

    /// Another process changed the store: every lane reads its connection again.
    pub(crate) fn remote_changes(&self) {
        for lane in lock(&self.shared.lanes).values() {
            lane.control.connection_stale.store(true, Ordering::Release);
            lane.control.wake.notify();
        }
    }

    /// Ends all lanes: running requests finish, and waiting events in memory return to the table.
    pub(crate) async fn end(&self) {
        self.shared.stopping.cancel();
        let lanes: Vec<LaneHandle> = lock(&self.shared.lanes).drain().map(|(_, lane)| lane).collect();
        for lane in lanes {
            // The drop of a lane that panicked has logged it.
            let _ = lane.task.await;
        }
    }

    /// The customer's lane, which is started if necessary; none while the publisher doesn't run.
    fn lane_control(&self, customer: Uuid) -> Option<Arc<LaneControl>> {
        if !self.shared.running.load(Ordering::Acquire) || self.shared.stopping.is_cancelled() {
            return None;
        }
        let mut lanes = lock(&self.shared.lanes);
        if let Some(lane) = lanes.get(&customer).filter(|lane| !lane.task.is_finished()) {
            return Some(Arc::clone(&lane.control));
        }
        let (events, inbox) = mpsc::unbounded_channel();
        let control = Arc::new(LaneControl {
            events,
            room: Arc::new(Semaphore::new(self.shared.parts.config.lane_events_max)),
            open: AtomicBool::new(true),
            connection_stale: AtomicBool::new(false),
            connection_seen_ms: AtomicI64::new(i64::MIN),
            wake: Signal::new(),
        });
        let lane = lane::Lane::new(customer, Arc::clone(&self.shared), Arc::clone(&control), inbox);
        let task = tokio::spawn(lane.run());
        lanes.insert(customer, LaneHandle { control: Arc::clone(&control), task });
        Some(control)
    }
}

impl Shared {
    fn lane_requests_max(&self) -> usize {
        match self.reductions.load(Ordering::Acquire) {
            0 => self.parts.config.lane_requests_max,
            _ => self.parts.config.reduced_requests_max,
        }
    }

    fn node(&self) -> NodeId {
        *lock(&self.node)
    }

    fn fence(&self) {
        self.fence_requested.store(true, Ordering::Release);
    }
}

impl Reservation {
    /// Hands over the rows that the commit assigned to this node.
    ///
    /// `connection_updated_at` is the connection's last change as the commit read it. The lane may have cached an
    /// earlier connection, if another process changed it; these events must use the one that the commit saw.
    pub(crate) fn hand_over(
        &mut self,
        events: Vec<OutboxEvent>,
        connection_updated_at: Option<Timestamp>,
        now: Instant,
    ) {
        if let Some(at_ms) = connection_updated_at.map(to_ms)
            && self.control.connection_seen_ms.fetch_max(at_ms, Ordering::AcqRel) < at_ms
        {
            self.control.connection_stale.store(true, Ordering::Release);
        }
        for event in events {
            let place = self.permits.split(1);
            // If the lane has just ended, no row is lost: this node takes a new node id, see `Lane`'s drop.
            let _ = self.control.events.send(QueuedEvent { event, since: now, _permit: place });
        }
    }
}

/// Locks a mutex. Poisoning is ignored, because no holder leaves the value half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
