//! Writes finished attempts, many in one transaction, and what follows from them.
//!
//! An attempt that is handed in is written, however long the store is not available: until then its row stays this
//! node's. The queues are bounded; when they are full, attempts wait, and with them their lanes.

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
use super::nodes::Holder;
use super::unrecorded::{Mark, Unrecorded};
use crate::model::{AttemptStatus, Id};
use crate::ordering::OrderingKey;
use crate::port::{AttemptRecord, EndpointEffect, Next, RowKind, StoreError};

/// Finished attempts that wait in each recorder's queue at most.
const QUEUE_MAX: usize = 4_096;
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// What is to be written of a row.
pub(super) enum Entry {
    /// It was tried.
    Attempt { record: AttemptRecord, key: Option<OrderingKey>, holder: Holder },
    /// Its endpoint is disabled or gone, or its payload is.
    Drop { message: Id, application: Id, endpoint: Id, key: Option<OrderingKey>, _holder: Holder },
}

/// The queues to the recorders. An endpoint's attempts are written in order, by one of them.
pub(super) struct Recorders {
    queues: Vec<Queue>,
    hasher: RandomState,
    clock: SharedClock,
}

struct Queue {
    sender: mpsc::Sender<Handed>,
    receiver: Arc<Mutex<mpsc::Receiver<Handed>>>,
    unrecorded: Arc<Unrecorded>,
}

/// An entry, and that it is of an attempt which is not on disk.
struct Handed {
    entry: Entry,
    mark: Option<Mark>,
}

impl Handed {
    /// Whether a message can't go out before this is written.
    fn is_awaited(&self) -> bool {
        let (Entry::Attempt { key, .. } | Entry::Drop { key, .. }) = &self.entry;
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

    /// Attempts that were made and are not on disk, and since when the oldest of them waits.
    pub(super) fn unrecorded(&self) -> (usize, Option<Instant>) {
        let each = self.queues.iter().map(|queue| queue.unrecorded.now());
        each.fold((0, None), |(count, oldest), (more, since)| (count + more, oldest.into_iter().chain(since).min()))
    }

    /// Hands in an entry, waiting for room.
    pub(super) fn record(&self, entry: Entry) -> impl Future<Output = ()> + Send {
        let (Entry::Attempt { record: AttemptRecord { attempt: crate::model::Attempt { endpoint, .. }, .. }, .. }
        | Entry::Drop { endpoint, .. }) = &entry;
        let index = self.hasher.hash_one(endpoint) as usize % self.queues.len();
        let queue = &self.queues[index];
        let mark = matches!(entry, Entry::Attempt { .. }).then(|| queue.unrecorded.mark(self.clock.monotonic()));
        // Whoever waits holds it in a box: there is room as a rule.
        let waiting = match queue.sender.try_send(Handed { entry, mark }) {
            Ok(()) => None,
            Err(TrySendError::Full(handed) | TrySendError::Closed(handed)) => Some(Box::new(handed)),
        };
        async move {
            let Some(handed) = waiting else { return };
            match queue.sender.reserve().await {
                Ok(room) => room.send(*handed),
                // Only after the end: the row becomes due again when this node is missed.
                Err(_) => tracing::warn!("an attempt that ended after the end was not recorded"),
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
                // It panicked before, and what it had in hand is lost from memory.
                shared.names.doubt();
            }
            let (shared, receiver) = (Arc::clone(&shared), Arc::clone(&receiver));
            let unrecorded = Arc::clone(&unrecorded);
            async move { work(&shared, &mut *receiver.lock().await, &unrecorded).await }
        });
    }
}

/// Writes until everything under way has ended.
async fn work(shared: &Arc<Shared>, receiver: &mut mpsc::Receiver<Handed>, unrecorded: &Unrecorded) {
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
        gather(shared, receiver, &mut entries).await;
        // The store may let them wait for company, too.
        let within = match entries.iter().any(Handed::is_awaited) {
            true => Duration::ZERO,
            false => shared.context.config.lanes.record_linger,
        };
        let marks = entries.iter_mut().filter_map(|handed| handed.mark.take()).collect();
        write(shared, entries.drain(..).map(|handed| handed.entry), within).await;
        unrecorded.settle(marks);
    }
}

/// Waits a little for more to write in the same transaction: unlike a message that comes in, nobody waits for this. But the
/// next of a key does.
async fn gather(shared: &Shared, receiver: &mut mpsc::Receiver<Handed>, entries: &mut Vec<Handed>) {
    let lanes = &shared.context.config.lanes;
    let more = async {
        while entries.len() < lanes.record_batch_max && !entries.iter().any(Handed::is_awaited) {
            let room = lanes.record_batch_max - entries.len();
            if receiver.recv_many(entries, room).await == 0 {
                return;
            }
        }
    };
    tokio::select! {
        () = more => {}
        () = tokio::time::sleep(lanes.record_linger) => {}
        () = shared.drained.cancelled() => {}
    }
}

async fn write(shared: &Arc<Shared>, entries: impl ExactSizeIterator<Item = Entry>, within: Duration) {
    let (mut records, mut holders) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
    let mut drops = Vec::new();
    // Endpoints at which the next of a key may be due when this is written.
    let mut ordered: HashMap<Id, Id> = HashMap::new();
    for entry in entries {
        match entry {
            Entry::Attempt { record, key, holder } => {
                if key.is_some() && record.next == Next::Done {
                    ordered.insert(record.attempt.endpoint.clone(), record.attempt.application.clone());
                }
                records.push(record);
                holders.push(holder);
            }
            Entry::Drop { message, application, endpoint, key, _holder } => {
                if key.is_some() {
                    ordered.insert(endpoint.clone(), application);
                }
                drops.push((message, endpoint));
                holders.push(_holder);
            }
        }
    }
    let records: Arc<[AttemptRecord]> = records.into();
    if !records.is_empty() && !record(shared, &records, within).await {
        // One of them can't be written; the others can.
        for record_alone in &*records {
            if records.len() == 1 || !record(shared, &Arc::from([record_alone.clone()]), Duration::ZERO).await {
                let attempt = &record_alone.attempt;
                tracing::error!(message = %attempt.message, endpoint = %attempt.endpoint, "an attempt can't be recorded");
            }
        }
    }
    if !drops.is_empty() {
        let store = &shared.context.store;
        persist(shared, || store.drop_deliveries(drops.clone())).await;
    }
    for (endpoint, application) in ordered {
        shared.lanes.look_in_table(shared, &application, &endpoint, &[RowKind::First]);
    }
}

/// False when the store refuses for good.
async fn record(shared: &Shared, records: &Arc<[AttemptRecord]>, within: Duration) -> bool {
    let store = &shared.context.store;
    if !persist(shared, || store.record_attempts_within(Arc::clone(records), within)).await {
        return false;
    }
    shared.metrics.record_batch(records.len());
    for record in &**records {
        if record.next == Next::Done && record.attempt.status != AttemptStatus::Success {
            shared.metrics.given_up();
        }
        if record.endpoint != EndpointEffect::None {
            shared.context.snapshots.forget(&record.attempt.application);
        }
        if record.endpoint == EndpointEffect::Disable {
            shared.metrics.disabled();
            tracing::info!(endpoint = %record.attempt.endpoint, code = record.attempt.response_status_code, "endpoint disabled");
        }
        if let Next::Retry { at, .. } = record.next {
            shared.sweeps.due_at(at);
        }
    }
    true
}

/// Calls until the store is there. False when it refuses for good.
async fn persist<F>(shared: &Shared, call: impl Fn() -> F) -> bool
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut failures = 0_u32;
    loop {
        match call().await {
            Ok(()) => return true,
            Err(StoreError::Unavailable(reason)) => {
                failures = failures.saturating_add(1);
                let pause = backoff(failures, RETRY_MIN, RETRY_MAX, shared.context.random.unit_f64());
                tracing::warn!(failures, reason, "attempts can't be recorded at the moment");
                shared.context.clock.sleep_until(shared.context.clock.now() + pause).await;
            }
            Err(error) => {
                tracing::error!(%error, "the store refuses attempts");
                return false;
            }
        }
    }
}
