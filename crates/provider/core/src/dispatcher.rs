//! The dispatcher delivers accepted messages and records the attempts.
//!
//! Actors:
//! - **acceptance** writes messages that arrive at the same time in one transaction of the store, and then passes their
//!   deliveries to the lanes in memory;
//! - a **lane** for each endpoint with deliveries: a bounded queue, a bounded number of attempts under way, the
//!   endpoint's throttle rate and its pauses. The lane claims more deliveries from the table when its queue runs low;
//! - **attempts** are tasks of a lane. Each task sends one delivery after the other;
//! - **recorders** write finished attempts, many in one transaction;
//! - the **sweeper** finds due deliveries without an owner in the table (retries, deliveries that did not fit into
//!   memory, deliveries of a dead node) and wakes their lanes;
//! - the **heartbeat** renews the node's lease on its claimed deliveries.
//!
//! Guarantees:
//! - an acknowledged message is delivered, or given up at the end of the retry schedule, whatever crashes: its row is
//!   deleted only in the transaction that records its last attempt. A delivery is repeated only after a crash, or after
//!   a store error that leaves open whether a transaction was committed;
//! - the lanes of endpoints do not wait for each other: each lane has a guaranteed number of attempts under way and of
//!   queued deliveries. The rest is shared evenly among the accounts with deliveries, and within an account among its
//!   endpoints. An endpoint that does not respond uses only its guaranteed attempts;
//! - new deliveries do not wait behind retries, also at the same endpoint;
//! - an endpoint with ordering receives the messages of one ordering key one after the other: the lane claims them from
//!   the table, which returns one delivery of a key at a time, and acceptance does not pass them on in memory;
//! - memory is bounded: further deliveries wait in the table, and are claimed in order of their due time;
//! - deliveries that are claimed in the table but lost in memory (a lost response of the store, a task that panicked)
//!   are recovered: the node takes a new name, and when memory holds no delivery under the old name any more, the
//!   deliveries of the old name become due after ten seconds (see `node_leases.rs`).

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
mod origin;
mod outcome;
mod recorder;
mod response_headers;
mod response_text;
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
use crate::model::ordering::OrderingKey;
use crate::model::{AttemptTrigger, Id, Message};
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

pub(crate) use lane_state::LaneHold;
pub use transport::{ExchangeFuture, ProbeFuture, Transport};

/// The wait that a receiver's response asks for, and the stored text of the response.
#[cfg(feature = "fuzzing")]
pub(crate) fn parse_response(
    status: http::StatusCode,
    headers: &http::HeaderMap,
    body: bytes::Bytes,
    now: Timestamp,
) -> (Option<std::time::Duration>, String) {
    let response = kit_outbound::Response { status, headers: headers.clone(), body, truncated: false };
    let outcome = outcome::Outcome::of(Ok(response), "https://example.com", || now);
    (outcome.retry_after, outcome.response)
}

/// Longest time that a caller waits for attempts under way.
const RECORDED_WAIT_MAX: Duration = Duration::from_secs(1);
/// Messages that may wait for their transaction. Further callers wait before they submit.
const ACCEPT_QUEUE_MAX: usize = 8_192;

/// Dependencies of the dispatcher.
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

/// State that all actors share.
struct Shared {
    context: Context,
    leases: NodeLeases,
    lanes: Lanes,
    rates: ApplicationThrottles,
    recorders: Recorders,
    sweeps: SweepSchedule,
    load: Load,
    metrics: Metrics,
    /// Set shortly before shutdown: messages are no longer accepted.
    refusing: AtomicBool,
    /// Set during shutdown: no new attempt is started.
    draining: AtomicBool,
    /// Cancelled when the last attempt under way was passed to its recorder.
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

    /// Accepts a message for the endpoints of `snapshot` that subscribe to it. When this returns, the message is
    /// durable and its deliveries are in their lanes. Errors are those of
    /// [`MessageStore::accept`](crate::port::MessageStore::accept).
    pub(crate) fn accept(
        &self,
        snapshot: &Snapshot,
        message: Message,
        key: Option<&OrderingKey>,
        answer: Option<IdempotentAnswer>,
    ) -> impl Future<Output = StoreResult<()>> + Send {
        self.submit(snapshot, message, key, answer, AttemptTrigger::Scheduled, Target::receives)
    }

    /// Accepts a message for one endpoint of `snapshot` because a caller asked for it, whether or not the endpoint
    /// subscribes to it. The lane makes one attempt without delay.
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

    /// `Unavailable` when messages are no longer accepted.
    pub(crate) fn check_open(&self) -> StoreResult<()> {
        if self.shared.refusing.load(Ordering::Acquire) {
            return Err(StoreError::Unavailable("this node is about to end".to_owned()));
        }
        Ok(())
    }

    /// `Unavailable` when finished attempts have waited too long for their record, even if the store responds: further
    /// deliveries would be repeated after a crash.
    pub(crate) fn check_recording(&self) -> StoreResult<()> {
        let (count, waited) = self.unrecorded();
        if waited < self.shared.context.config.recording_late_after {
            return Ok(());
        }
        let seconds = waited.as_secs();
        Err(StoreError::Unavailable(format!("{count} attempts are not recorded, the oldest made {seconds} s ago")))
    }

    /// Number of finished attempts that are not recorded, and how long the oldest of them has waited.
    fn unrecorded(&self) -> (usize, Duration) {
        let (count, since) = self.shared.recorders.unrecorded();
        let now = self.shared.context.clock.monotonic();
        (count, since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since)))
    }

    /// Waits until this node's attempts at an endpoint have ended and are recorded, for at most [`RECORDED_WAIT_MAX`]:
    /// a receiver may take longer to respond.
    pub(crate) async fn wait_for_attempts(&self, endpoint: &Id) {
        let recorded = async {
            if let Some(lane) = self.shared.lanes.get(endpoint) {
                lane.wait_for_attempts().await;
            }
            self.shared.recorders.wait_for_records(endpoint).await;
        };
        let _late = tokio::time::timeout(RECORDED_WAIT_MAX, recorded).await;
    }

    /// Stops accepting messages.
    pub(crate) fn refuse(&self) {
        self.shared.refusing.store(true, Ordering::Release);
    }

    /// Releases the deliveries that are claimed under a name of this node.
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

    /// How long the oldest due delivery in memory has waited, without deliveries that are held back on purpose.
    pub(crate) fn oldest_wait(&self) -> Duration {
        let clock = &self.shared.context.clock;
        let since = self.shared.lanes.oldest_waiting_since(clock.now());
        since.map_or(Duration::ZERO, |since| clock.monotonic().saturating_duration_since(since))
    }

    /// Whether the endpoint is paused on this node because its receiver asked for a pause.
    pub(crate) fn is_paused(&self, endpoint: &str) -> bool {
        self.shared.lanes.is_paused(endpoint, self.shared.context.clock.now())
    }

    /// What holds back the deliveries that this node has for the endpoint; none when it has no lane for the endpoint, or an
    /// idle one.
    pub(crate) fn lane_hold(&self, endpoint: &str) -> Option<LaneHold> {
        self.shared.lanes.get(endpoint)?.hold(self.shared.context.clock.now())
    }

    pub(crate) fn lane_gauges(&self, endpoint: &str) -> LaneGauges {
        self.shared.lanes.gauges(endpoint, self.shared.context.clock.now())
    }

    /// Starts the workers. Without workers, messages are accepted and wait in the table.
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

    /// Wakes the lane of an endpoint that has a due delivery in the table.
    pub(crate) fn wake_lane(&self, application: &Id, endpoint: &Id) {
        self.shared.lanes.wake_for_rows(&self.shared, application, endpoint, &KINDS);
    }

    /// Applies a change of an application or its endpoints to the deliveries that are already in memory.
    pub(crate) async fn changed(&self, application: &Id) {
        // After an error, the next attempt reads the change.
        let Ok(Some(snapshot)) = self.shared.context.snapshots.get(application).await else { return };
        for target in snapshot.targets.values() {
            self.shared.lanes.changed(&self.shared, target);
        }
    }

    /// Schedules a sweep for a delivery that becomes due at this time.
    pub(crate) fn due_at(&self, at: Timestamp) {
        self.shared.sweeps.due_at(at);
    }

    /// Schedules a sweep without delay, because another node signalled a change.
    pub(crate) fn request_sweep(&self) {
        self.shared.sweeps.request_sweep();
    }
}

impl Shared {
    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Starts no new attempts, releases the queued deliveries, and waits for the attempts under way.
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
