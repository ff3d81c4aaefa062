//! Writes finished attempts and their effects, many in one transaction.
//!
//! The recorder retries until an attempt is written, however long the store is unavailable; until then this node owns
//! the delivery. The queues are bounded: when a queue is full, attempts wait, and so do their lanes.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use kit_runtime::backoff::backoff;
use kit_runtime::clock::SharedClock;
use kit_runtime::tasks::Tasks;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, mpsc};

use super::Shared;
use super::node_leases::NodeLease;
use super::unrecorded::{Unrecorded, UnrecordedGuard};
use crate::model::ordering::OrderingKey;
use crate::model::{AttemptStatus, Id};
use crate::port::{AttemptRecord, DeliveryKind, DeliveryOutcome, DroppedDelivery, EndpointEffect, StoreError};

/// Maximum number of finished attempts in each recorder's queue.
const QUEUE_MAX: usize = 4_096;
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);

#[expect(clippy::large_enum_variant, reason = "almost every record is an attempt")]
pub(super) enum DeliveryRecord {
    /// An attempt was made.
    Attempt { record: AttemptRecord, key: Option<OrderingKey>, lease: NodeLease },
    /// The delivery is deleted without an attempt: its endpoint was disabled or deleted, or its payload was removed.
    Drop { message: Id, application: Id, endpoint: Id, key: Option<OrderingKey>, _lease: NodeLease },
}

/// The queues of the recorders. The attempts of an endpoint are written in order by one recorder.
pub(super) struct Recorders {
    queues: Vec<Queue>,
    hasher: RandomState,
    clock: SharedClock,
}

struct Queue {
    sender: mpsc::Sender<QueuedRecord>,
    receiver: Arc<Mutex<mpsc::Receiver<QueuedRecord>>>,
    unrecorded: Arc<Unrecorded>,
}

/// A record in a queue. `mark` counts an attempt as unrecorded.
struct QueuedRecord {
    entry: DeliveryRecord,
    mark: Option<UnrecordedGuard>,
}

impl QueuedRecord {
    /// Whether the next message of an ordering key waits for this record.
    fn blocks_ordering_key(&self) -> bool {
        let (DeliveryRecord::Attempt { key, .. } | DeliveryRecord::Drop { key, .. }) = &self.entry;
        key.is_some()
    }
}

impl Recorders {
    pub(super) fn new(count: usize, clock: SharedClock) -> Self {
        let queue = || {
            let (sender, receiver) = mpsc::channel(QUEUE_MAX);
            Queue { sender, receiver: Arc::new(Mutex::new(receiver)), unrecorded: Arc::default() }
        };
        let queues = std::iter::repeat_with(queue).take(count.max(1)).collect();
        Self { queues, hasher: RandomState::default(), clock }
    }

    /// Number of finished attempts that are not recorded, and since when the oldest of them waits.
    pub(super) fn unrecorded(&self) -> (usize, Option<Instant>) {
        let each = self.queues.iter().map(|queue| queue.unrecorded.count_and_oldest());
        each.fold((0, None), |(count, oldest), (more, since)| (count + more, oldest.into_iter().chain(since).min()))
    }

    /// Waits until all attempts at an endpoint that are in the queue are recorded.
    pub(super) async fn wait_for_records(&self, endpoint: &Id) {
        self.queue_of(endpoint).unrecorded.wait().await;
    }

    fn queue_of(&self, endpoint: &Id) -> &Queue {
        &self.queues[self.hasher.hash_one(endpoint) as usize % self.queues.len()]
    }

    /// Queues a record. Waits while the queue is full.
    pub(super) fn record(&self, entry: DeliveryRecord) -> impl Future<Output = ()> + Send {
        let (DeliveryRecord::Attempt {
            record: AttemptRecord { attempt: crate::model::Attempt { endpoint, .. }, .. },
            ..
        }
        | DeliveryRecord::Drop { endpoint, .. }) = &entry;
        let queue = self.queue_of(endpoint);
        let mark =
            matches!(entry, DeliveryRecord::Attempt { .. }).then(|| queue.unrecorded.track(self.clock.monotonic()));
        // The record is boxed only if the caller waits: the queue nearly always has room.
        let waiting = match queue.sender.try_send(QueuedRecord { entry, mark }) {
            Ok(()) => None,
            Err(TrySendError::Full(queued) | TrySendError::Closed(queued)) => Some(Box::new(queued)),
        };
        async move {
            let Some(queued) = waiting else { return };
            match queue.sender.reserve().await {
                Ok(room) => room.send(*queued),
                // This happens only after the shutdown. The delivery becomes due when this node's heartbeat expires.
                Err(_) => tracing::warn!("an attempt that finished after the shutdown was not recorded"),
            }
        }
    }
}

pub(super) fn spawn(shared: &Arc<Shared>, tasks: &Tasks) {
    for queue in &shared.recorders.queues {
        let (shared, receiver) = (Arc::clone(shared), Arc::clone(&queue.receiver));
        let unrecorded = Arc::clone(&queue.unrecorded);
        let started = AtomicBool::new(false);
        tasks.spawn("provider recorder", move |_stopping| {
            if started.swap(true, Ordering::Relaxed) {
                // The recorder panicked before, and the records of its batch are lost from memory.
                shared.leases.fence();
            }
            let (shared, receiver) = (Arc::clone(&shared), Arc::clone(&receiver));
            let unrecorded = Arc::clone(&unrecorded);
            async move { run_recorder(&shared, &mut *receiver.lock().await, &unrecorded).await }
        });
    }
}

/// Writes records until all attempts under way have ended.
async fn run_recorder(shared: &Arc<Shared>, receiver: &mut mpsc::Receiver<QueuedRecord>, unrecorded: &Unrecorded) {
    let batch_max = shared.context.config.lanes.record_batch_max.max(1);
    let mut entries = Vec::new();
    loop {
        let read = tokio::select! {
            biased;
            read = receiver.recv_many(&mut entries, batch_max) => read,
            () = shared.drained.cancelled(), if !receiver.is_closed() => {
                receiver.close();
                continue;
            }
        };
        if read == 0 {
            return;
        }
        fill_batch(shared, receiver, &mut entries).await;
        // The store may let the records wait as long again, to commit them with other changes.
        let within = match entries.iter().any(QueuedRecord::blocks_ordering_key) {
            true => Duration::ZERO,
            false => shared.context.config.lanes.record_linger,
        };
        let marks = entries.iter_mut().filter_map(|queued| queued.mark.take()).collect();
        write(shared, entries.drain(..).map(|queued| queued.entry), within).await;
        unrecorded.recorded(marks);
    }
}

/// Waits up to `record_linger` for more records to write in the same transaction. No caller waits for a record, but the
/// next message of an ordering key does: a record that blocks a key ends the wait.
async fn fill_batch(shared: &Shared, receiver: &mut mpsc::Receiver<QueuedRecord>, entries: &mut Vec<QueuedRecord>) {
    let lanes = &shared.context.config.lanes;
    let more = async {
        while entries.len() < lanes.record_batch_max && !entries.iter().any(QueuedRecord::blocks_ordering_key) {
            let room = lanes.record_batch_max - entries.len();
            if receiver.recv_many(entries, room).await == 0 {
                return;
            }
        }
    };
    tokio::select! {
        _ = tokio::time::timeout(lanes.record_linger, more) => {}
        () = shared.drained.cancelled() => {}
    }
}

async fn write(shared: &Arc<Shared>, entries: impl ExactSizeIterator<Item = DeliveryRecord>, within: Duration) {
    let (mut records, mut leases) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
    let mut drops = Vec::new();
    // Endpoints at which the next message of an ordering key may be due after the write.
    let mut ordered: HashMap<Id, Id> = HashMap::new();
    for entry in entries {
        match entry {
            DeliveryRecord::Attempt { record, key, lease } => {
                if key.is_some() && record.outcome == DeliveryOutcome::Done {
                    ordered.insert(record.attempt.endpoint.clone(), record.attempt.application.clone());
                }
                records.push(record);
                leases.push(lease);
            }
            DeliveryRecord::Drop { message, application, endpoint, key, _lease } => {
                if key.is_some() {
                    ordered.insert(endpoint.clone(), application.clone());
                }
                drops.push(DroppedDelivery { application, endpoint, message });
                leases.push(_lease);
            }
        }
    }
    let records: Arc<[AttemptRecord]> = records.into();
    if !records.is_empty() && !record(shared, &records, within).await {
        // One of the records can't be written, so each is written alone.
        for single in &*records {
            if records.len() == 1 || !record(shared, &Arc::from([single.clone()]), Duration::ZERO).await {
                let attempt = &single.attempt;
                tracing::error!(message_id = %attempt.message, endpoint_id = %attempt.endpoint, "an attempt can't be recorded");
            }
        }
    }
    if !drops.is_empty() {
        let store = &shared.context.store;
        let now = shared.context.clock.now();
        retry_while_unavailable(shared, || store.drop_deliveries(drops.clone(), now)).await;
    }
    for (endpoint, application) in ordered {
        shared.lanes.wake_for_rows(shared, &application, &endpoint, &[DeliveryKind::First]);
    }
}

/// Records attempts and applies their effects in memory. False when the store rejects them.
async fn record(shared: &Shared, records: &Arc<[AttemptRecord]>, within: Duration) -> bool {
    let store = &shared.context.store;
    if !retry_while_unavailable(shared, || store.record_attempts(Arc::clone(records), within)).await {
        return false;
    }
    shared.metrics.record_batch(records.len());
    for record in &**records {
        if record.outcome == DeliveryOutcome::Done && record.attempt.status != AttemptStatus::Success {
            shared.metrics.given_up();
        }
        if record.endpoint != EndpointEffect::None {
            shared.context.snapshots.invalidate(&record.attempt.application);
        }
        if record.endpoint == EndpointEffect::Disable {
            shared.metrics.disabled();
            tracing::info!(endpoint_id = %record.attempt.endpoint, code = record.attempt.response_status_code, "endpoint disabled");
        }
        if let DeliveryOutcome::Retry { at, .. } = record.outcome {
            shared.sweeps.due_at(at);
        }
    }
    true
}

/// Repeats a call until the store is available. False when the store rejects it.
async fn retry_while_unavailable<F>(shared: &Shared, call: impl Fn() -> F) -> bool
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut failures = 0_u32;
    loop {
        match call().await {
            Ok(()) => return true,
            Err(StoreError::Unavailable(reason) | StoreError::DiskFull(reason)) => {
                failures = failures.saturating_add(1);
                let pause = backoff(failures, RETRY_MIN, RETRY_MAX, shared.context.random.unit_f64());
                tracing::warn!(failures, reason, "attempts can't be recorded; the recorder tries again");
                shared.context.clock.sleep_until(shared.context.clock.now() + pause).await;
            }
            Err(error) => {
                tracing::error!(%error, "the store rejected attempts");
                return false;
            }
        }
    }
}
