//! From an accepted message to its recorded attempts.
//!
//! Actors:
//! - **acceptance** gathers the messages that come in at the same time into one transaction of the store, and hands what
//!   is on disk on in memory;
//! - a **lane** for each endpoint that has something to do: a bounded queue, a bounded number of attempts under way, the
//!   endpoint's rate and its pauses. It claims more from the table when its queue runs low;
//! - **attempts**: tasks of a lane, each of which sends one delivery after the other;
//! - **recorders** write finished attempts, many in one transaction;
//! - the **sweeper** finds due rows without an owner in the table (retries, rows that did not fit into memory, rows of a
//!   dead node) and wakes their lanes;
//! - the **heartbeat** says that this node lives, so that what it holds stays its own.
//!
//! Guarantees:
//! - what was acknowledged is delivered, or given up as the retry schedule says, whatever crashes: its row leaves the
//!   table only in the transaction that records the attempt which finished it. Nothing but a crash, or a store that
//!   didn't say whether it committed, makes a delivery happen twice;
//! - an endpoint's lane never waits for another's: a few attempts under way and some room are every lane's own, and the
//!   rest is shared evenly among the accounts that have work, and within each among its endpoints. An endpoint that hangs
//!   never gets beyond its own few;
//! - what is new doesn't wait behind retries, at the same endpoint either;
//! - messages of one ordering key reach an endpoint that asks for it one after the other: they go by way of the table,
//!   which gives out one of a key at a time, and nothing is handed on in memory;
//! - memory is bounded: what doesn't fit waits in the table, and goes out from there in order of its due time;
//! - whatever is held under a name of this node and got lost in memory (an answer of the store that never came, a task
//!   that panicked) is found again: the node takes a new name, and what the old one still owns when nothing in memory is
//!   held under it any more becomes due after ten seconds (see `node_leases.rs`).

pub mod retry;
pub(crate) mod snapshot;
pub(crate) mod target;

mod accept;
mod attempt;
mod attempt_event;
mod claim;
mod disable_endpoint;
mod heartbeat;
mod lane;
mod lane_state;
mod lanes;
mod load;
pub(crate) mod metrics;
mod node_leases;
mod outcome;
mod recorder;
mod sweeper;
mod throttle;
mod token_bucket;
mod transport;
mod unrecorded;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{self, Either};
use jiff::Timestamp;
use kit_runtime::batcher::{BatchError, Batcher, BatcherConfig};
use kit_runtime::clock::SharedClock;
use kit_runtime::random::SharedRandom;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::config::ProviderConfig;
use crate::dispatcher::snapshot::{Snapshot, Snapshots};
use crate::dispatcher::target::Target;
use crate::ids::Ids;
use crate::model::{AttemptTrigger, Id, Message};
use crate::ordering::OrderingKey;
use crate::port::{IdempotentAnswer, Store, StoreError, StoreResult};

use accept::PendingMessage;
use lane_state::KINDS;
use lanes::Lanes;
use load::Load;
use metrics::{DispatcherLoad, LaneGauges, Metrics};
use node_leases::NodeLeases;
use recorder::Recorders;
use sweeper::SweepSchedule;
use throttle::ApplicationThrottles;

pub(crate) use outcome::RESPONSE_BYTES_MAX;
pub use transport::{ProbeFuture, ResponseFuture, Transport};

/// What a receiver's answer asks to wait, and the text of it that is kept.
#[cfg(feature = "fuzzing")]
pub(crate) fn parse_response(
    status: http::StatusCode,
    headers: &http::HeaderMap,
    body: bytes::Bytes,
    now: Timestamp,
) -> (Option<std::time::Duration>, String) {
    let response = kit_outbound::Response { status, headers: headers.clone(), body, truncated: false };
    let outcome = outcome::Outcome::of(Ok(response), || now);
    (outcome.retry_after, outcome.response)
}

/// The longest wait of a caller for attempts that are under way.
const RECORDED_WAIT_MAX: Duration = Duration::from_secs(1);
/// Messages that wait for their transaction before callers have to wait.
const ACCEPT_QUEUE_MAX: usize = 8_192;

/// What the dispatcher works with.
pub(crate) struct Context {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) random: SharedRandom,
    pub(crate) ids: Ids,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) config: ProviderConfig,
}

pub(crate) struct Dispatcher {
    shared: Arc<Shared>,
    acceptance: Batcher<PendingMessage, StoreResult<()>>,
}

/// What all actors share.
struct Shared {
    context: Context,
    leases: NodeLeases,
    lanes: Lanes,
    rates: ApplicationThrottles,
    recorders: Recorders,
    sweeps: SweepSchedule,
    load: Load,
    metrics: Metrics,
    /// Set when the end is near: nothing is accepted.
    refusing: AtomicBool,
    /// Set when the end has begun: nothing new is started.
    draining: AtomicBool,
    /// Cancelled when the last attempt under way has been handed to its recorder.
    drained: CancellationToken,
}

impl Dispatcher {
    pub(crate) fn new(context: Context) -> Self {
        let lanes = &context.config.lanes;
        let acceptance_config = BatcherConfig {
            queue_max: ACCEPT_QUEUE_MAX,
            batch_max: lanes.accept_batch_max,
            in_flight_max: lanes.store_calls_max,
            min_interval: lanes.accept_apart,
        };
        let shared = Arc::new(Shared {
            leases: NodeLeases::new(context.ids.clone()),
            lanes: Lanes::default(),
            rates: ApplicationThrottles::default(),
            recorders: Recorders::new(lanes.store_calls_max, context.clock.clone()),
            sweeps: SweepSchedule::default(),
            load: Load::default(),
            metrics: Metrics::new(),
            refusing: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            drained: CancellationToken::new(),
            context,
        });
        let acceptance = Batcher::start("accept messages", acceptance_config, {
            let shared = Arc::clone(&shared);
            move |pending| accept::accept(Arc::clone(&shared), pending)
        });
        Self { shared, acceptance }
    }

    /// Accepts a message for the endpoints of `snapshot` that want it. When this returns it is on disk, and its
    /// deliveries are in their lanes. Errors are those of [`MessageStore::accept`](crate::port::MessageStore::accept).
    pub(crate) fn accept(
        &self,
        snapshot: &Snapshot,
        message: Message,
        key: Option<&OrderingKey>,
        answer: Option<IdempotentAnswer>,
    ) -> impl Future<Output = StoreResult<()>> + Send {
        self.submit(snapshot, message, key, answer, AttemptTrigger::Scheduled, Target::receives)
    }

    /// Accepts a message for one endpoint of `snapshot` because a caller asked for it, whether or not the endpoint subscribes
    /// to it. The lane makes one attempt without delay.
    pub(crate) fn accept_for(
        &self,
        snapshot: &Snapshot,
        endpoint: &Id,
        message: Message,
        answer: Option<IdempotentAnswer>,
    ) -> impl Future<Output = StoreResult<()>> + Send {
        let receives = |target: &Target, _: &Message| target.endpoint == *endpoint;
        self.submit(snapshot, message, None, answer, AttemptTrigger::Manual, receives)
    }

    fn submit(
        &self,
        snapshot: &Snapshot,
        message: Message,
        key: Option<&OrderingKey>,
        answer: Option<IdempotentAnswer>,
        trigger: AttemptTrigger,
        receives: impl Fn(&Target, &Message) -> bool,
    ) -> impl Future<Output = StoreResult<()>> + Send {
        let Shared { context, metrics, leases, .. } = &*self.shared;
        let began = context.clock.monotonic();
        if let Err(closed) = self.check_open() {
            return Either::Left(future::ready(Err(closed)));
        }
        let pending = PendingMessage::new(&self.shared, snapshot, message, key, answer, trigger, receives);
        Either::Right(self.acceptance.submit(pending).map(move |submitted| match submitted {
            Ok(result) => {
                if result.is_ok() {
                    metrics.accepted(context.clock.monotonic().saturating_duration_since(began));
                }
                result
            }
            Err(closed) => {
                if closed == BatchError::OutcomeUnknown {
                    leases.fence();
                }
                Err(StoreError::Unavailable(closed.to_string()))
            }
        }))
    }

    /// `Unavailable` once nothing is accepted any more.
    pub(crate) fn check_open(&self) -> StoreResult<()> {
        if self.shared.refusing.load(Ordering::Acquire) {
            return Err(StoreError::Unavailable("this node is about to end".to_owned()));
        }
        Ok(())
    }

    /// `Unavailable` when attempts were made long ago and are still not on disk, though the store may answer: what is sent now
    /// would be sent again.
    pub(crate) fn check_recording(&self) -> StoreResult<()> {
        let (count, waited) = self.unrecorded();
        if waited < self.shared.context.config.recording_late_after {
            return Ok(());
        }
        let seconds = waited.as_secs();
        Err(StoreError::Unavailable(format!("{count} attempts are not recorded, the oldest made {seconds} s ago")))
    }

    /// Attempts that were made and are not on disk, and for how long the oldest of them has waited.
    fn unrecorded(&self) -> (usize, Duration) {
        let (count, since) = self.shared.recorders.unrecorded();
        let now = self.shared.context.clock.monotonic();
        (count, since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since)))
    }

    /// Waits until the attempts at an endpoint that are under way on this node have ended and are on disk, for at most
    /// [`RECORDED_WAIT_MAX`]: a receiver may take longer to respond.
    pub(crate) async fn wait_for_attempts(&self, endpoint: &Id) {
        let recorded = async {
            if let Some(lane) = self.shared.lanes.get(endpoint) {
                lane.wait_for_attempts().await;
            }
            self.shared.recorders.wait_for_records(endpoint).await;
        };
        let _late = tokio::time::timeout(RECORDED_WAIT_MAX, recorded).await;
    }

    /// Accepts nothing any more.
    pub(crate) fn refuse(&self) {
        self.shared.refusing.store(true, Ordering::Release);
    }

    /// Gives back whatever is held under a name of this node.
    pub(crate) async fn release_node(&self) {
        if self.shared.load.under_way.load(Ordering::Acquire) == 0 {
            return;
        }
        let context = &self.shared.context;
        for name in self.shared.leases.live() {
            if let Err(error) = context.store.release_node(&name, context.clock.now()).await {
                tracing::warn!(%error, "claimed deliveries could not be released; other nodes claim them when this node's heartbeat expires");
            }
        }
    }

    /// The dispatcher's metrics as OpenMetrics text without its end mark.
    pub(crate) fn encode_metrics(&self) -> String {
        self.shared.metrics.encode(&self.load())
    }

    pub(crate) fn load(&self) -> DispatcherLoad {
        let (unrecorded, unrecorded_for) = self.unrecorded();
        DispatcherLoad {
            unrecorded,
            unrecorded_for,
            under_way: self.shared.load.under_way.load(Ordering::Acquire),
            lanes: self.shared.lanes.len(),
            active_lanes: self.shared.load.active_lanes(),
            accept_queue: self.acceptance.queued(),
        }
    }

    /// For how long the oldest row in memory has waited that is not kept back on purpose.
    pub(crate) fn oldest_wait(&self) -> Duration {
        let clock = &self.shared.context.clock;
        let since = self.shared.lanes.oldest_waiting_since(clock.now());
        since.map_or(Duration::ZERO, |since| clock.monotonic().saturating_duration_since(since))
    }

    /// Whether the endpoint's receiver asked this node for a pause that is not over.
    pub(crate) fn is_paused(&self, endpoint: &str) -> bool {
        self.shared.lanes.is_paused(endpoint, self.shared.context.clock.now())
    }

    pub(crate) fn lane_gauges(&self, endpoint: &str) -> LaneGauges {
        self.shared.lanes.gauges(endpoint, self.shared.context.clock.now())
    }

    /// Starts the workers. Without them messages are accepted and wait in the table.
    pub(crate) fn spawn_workers(&self, tasks: &Tasks) {
        heartbeat::spawn(&self.shared, tasks);
        recorder::spawn(&self.shared, tasks);
        sweeper::spawn(&self.shared, tasks);
        let shared = Arc::clone(&self.shared);
        tasks.spawn("provider drain", move |stopping| {
            let shared = Arc::clone(&shared);
            async move {
                stopping.cancelled().await;
                shared.drain().await;
            }
        });
    }

    /// There is a row in the table for this endpoint that is to go out at once.
    pub(crate) fn wake_lane(&self, application: &Id, endpoint: &Id) {
        self.shared.lanes.wake_for_rows(&self.shared, application, endpoint, &KINDS);
    }

    /// An application, or an endpoint of it, was changed here: what is in memory already goes out by what they are now.
    pub(crate) async fn changed(&self, application: &Id) {
        // If they can't be read now, the next attempt does.
        let Ok(Some(snapshot)) = self.shared.context.snapshots.get(application).await else { return };
        for target in snapshot.targets.values() {
            self.shared.lanes.changed(&self.shared, target);
        }
    }

    /// A row becomes due at this time.
    pub(crate) fn due_at(&self, at: Timestamp) {
        self.shared.sweeps.due_at(at);
    }

    /// What was signalled to have changed elsewhere is due to be looked for in the table.
    pub(crate) fn request_sweep(&self) {
        self.shared.sweeps.request_sweep();
    }
}

impl Shared {
    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Starts nothing new, gives back what waits in memory, and waits for what is under way.
    async fn drain(&self) {
        self.draining.store(true, Ordering::Release);
        self.leases.stop_claiming();
        for lane in self.lanes.all() {
            lane.release_queued().await;
        }
        loop {
            let ended = self.load.ended.notified();
            if self.load.under_way.load(Ordering::Acquire) == 0 {
                break;
            }
            ended.await;
        }
        self.drained.cancel();
    }
}
