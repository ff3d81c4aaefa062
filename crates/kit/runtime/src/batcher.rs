//! Many callers, one call: concurrent requests are gathered into batches for whatever is dear per call and cheap per row,
//! above all a durable transaction.
//!
//! Actors: callers `submit` and wait; one task takes what is there, with what comes from others that are ready to run, and
//! hands it to the handler, at most `in_flight_max` calls at a time. While they run, the next batch gathers by itself. When
//! many come at the same time, calls keep `apart` a little, so that each carries more of them; a caller who comes alone, or
//! after a pause, never waits for a time. The queue is bounded: when it is full, callers wait for room.
//!
//! Guarantees: every request is answered once, with its own result or a [`BatchError`]; a handler that panics or answers with
//! the wrong number of results fails the callers of that batch only; after [`Batcher::close`] nothing is accepted and
//! everything accepted has been handled.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Times that everybody else who is ready is let go first, to hand in what belongs in the same batch.
const YIELDS_MAX: usize = 8;
/// A call with this many requests was one of a crowd, and the next will be.
const LARGE_BATCH_MIN: usize = 8;
/// More calls than this are never under way, whatever is configured.
const IN_FLIGHT_LIMIT: usize = 4_096;

/// Bounds of a [`Batcher`]; a zero counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatcherConfig {
    /// Requests that wait before callers have to wait for room.
    pub queue_max: usize,
    /// Requests handed to the handler in one call.
    pub batch_max: usize,
    /// Calls of the handler under way at the same time.
    pub in_flight_max: usize,
    /// A call begins no sooner than this after one that had eight requests or more.
    pub apart: Duration,
}

/// A request that got no result of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Refused: the batcher is closed. It was not handled.
    #[error("it is shutting down and takes no more work")]
    NotAccepted,
    /// The handler failed: whether it did what was asked is not known.
    #[error("the work was interrupted; whether it was done is not known")]
    OutcomeUnknown,
}

/// Where requests are handed in. Clones hand in to the same queue; when the last one is dropped, what waits is still
/// handled.
pub struct Batcher<Req, Res> {
    queue: mpsc::Sender<QueuedRequest<Req, Res>>,
    closing: CancellationToken,
    drained: CancellationToken,
}

struct QueuedRequest<Req, Res> {
    request: Req,
    answer: oneshot::Sender<Res>,
}

impl<Req, Res> Batcher<Req, Res>
where
    Req: Send + 'static,
    Res: Send + 'static,
{
    /// Starts the task that gathers batches for `handler`, on the current runtime. `handler` answers one result for each
    /// request, in order. `name` is for the log.
    pub fn start<H, F>(name: &'static str, config: BatcherConfig, handler: H) -> Self
    where
        H: Fn(Vec<Req>) -> F + Send + Sync + 'static,
        F: Future<Output = Vec<Res>> + Send + 'static,
    {
        let (queue, entries) = mpsc::channel(config.queue_max.max(1));
        let batcher = Self { queue, closing: CancellationToken::new(), drained: CancellationToken::new() };
        tokio::spawn(gather(name, config, entries, batcher.closing.clone(), batcher.drained.clone(), handler));
        batcher
    }

    /// Hands in a request and waits for its result, and before that for room in the queue.
    ///
    /// Dropping the future withdraws the request only while it waits for room; later it is handled all the same.
    pub fn submit(&self, request: Req) -> impl Future<Output = Result<Res, BatchError>> + Send {
        let (answer, result) = oneshot::channel();
        let entry = QueuedRequest { request, answer };
        // It is moved with every future around it, and so holds the request once: an `async fn` would hold its parameter and
        // what it does with it, and waiting to send it would be a third place.
        async move {
            self.queue.reserve().await.map_err(|_| BatchError::NotAccepted)?.send(entry);
            result.await.map_err(|_| BatchError::OutcomeUnknown)
        }
    }

    /// Requests that wait to be handed to the handler.
    pub fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Takes no more requests, and returns when all that were accepted have been handled.
    pub async fn close(&self) {
        self.closing.cancel();
        self.drained.cancelled().await;
    }
}

impl<Req, Res> Clone for Batcher<Req, Res> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), closing: self.closing.clone(), drained: self.drained.clone() }
    }
}

async fn gather<Req, Res, H, F>(
    name: &'static str,
    config: BatcherConfig,
    mut entries: mpsc::Receiver<QueuedRequest<Req, Res>>,
    closing: CancellationToken,
    drained: CancellationToken,
    handler: H,
) where
    Req: Send + 'static,
    Res: Send + 'static,
    H: Fn(Vec<Req>) -> F + Send + Sync + 'static,
    F: Future<Output = Vec<Res>> + Send + 'static,
{
    // Also when this task is dropped with its runtime: whoever waits in `close` must not wait for ever.
    let _drained = drained.drop_guard();
    let in_flight_max = config.in_flight_max.clamp(1, IN_FLIGHT_LIMIT);
    let batch_max = config.batch_max.max(1);
    let handler = Arc::new(handler);
    let calls = Arc::new(Semaphore::new(in_flight_max));
    let mut batch = Vec::with_capacity(batch_max.min(config.queue_max));
    let mut open = true;
    let mut not_before = Instant::now();
    // A call slot comes first and the requests second, so that a batch grows while all slots are taken.
    while let Ok(slot) = Arc::clone(&calls).acquire_owned().await {
        let taken = tokio::select! {
            biased;
            () = closing.cancelled(), if open => {
                open = false;
                entries.close();
                continue;
            }
            taken = entries.recv_many(&mut batch, batch_max) => taken,
        };
        if taken == 0 {
            drop(slot);
            break;
        }
        if Instant::now() < not_before {
            let full = async {
                while batch.len() < batch_max {
                    let room = batch_max - batch.len();
                    if entries.recv_many(&mut batch, room).await == 0 {
                        return;
                    }
                }
            };
            tokio::select! {
                () = full => {}
                () = tokio::time::sleep_until(not_before) => {}
                () = closing.cancelled(), if open => {}
            }
        }
        for _ in 0..YIELDS_MAX {
            tokio::task::yield_now().await;
            if batch.len() >= batch_max || entries.is_empty() {
                break;
            }
            let room = batch_max - batch.len();
            entries.recv_many(&mut batch, room).await;
        }
        if batch.len() >= LARGE_BATCH_MIN {
            not_before = Instant::now() + config.apart;
        }
        let (requests, answers): (Vec<Req>, Vec<_>) =
            batch.drain(..).map(|entry| (entry.request, entry.answer)).unzip();
        let handler = Arc::clone(&handler);
        tokio::spawn(async move {
            // The handler is called inside, so that a panic before its first await stays here too.
            let results = AssertUnwindSafe(async { handler(requests).await }).catch_unwind().await;
            send_results(name, answers, results.ok());
            drop(slot);
        });
    }
    // All slots free: no call is under way any more.
    let _idle = calls.acquire_many(in_flight_max as u32).await;
}

/// Gives each caller its result. Without results, or with too few or many, all answers are dropped, which the callers see
/// as [`BatchError::OutcomeUnknown`]: a result must never reach another's caller.
fn send_results<Res>(name: &'static str, answers: Vec<oneshot::Sender<Res>>, results: Option<Vec<Res>>) {
    let Some(results) = results else {
        tracing::error!(batcher = name, requests = answers.len(), "a batch handler panicked");
        return;
    };
    if results.len() != answers.len() {
        tracing::error!(
            batcher = name,
            requests = answers.len(),
            results = results.len(),
            "a batch handler answered with the wrong number of results"
        );
        return;
    }
    for (answer, result) in answers.into_iter().zip(results) {
        // A caller that has gone away needs no answer.
        let _ = answer.send(result);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::join_all;
    use tokio::sync::Notify;

    use super::*;

    const CONFIG: BatcherConfig =
        BatcherConfig { queue_max: 64, batch_max: 16, in_flight_max: 1, apart: Duration::ZERO };

    type Sizes = Arc<Mutex<Vec<usize>>>;

    /// A batcher whose calls wait for a permit of the gate and double each number; the sizes of its batches.
    fn gated(config: BatcherConfig) -> (Batcher<u32, u32>, Arc<Semaphore>, Sizes) {
        let gate = Arc::new(Semaphore::new(0));
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let batcher = Batcher::start("doubling", config, {
            let (gate, sizes) = (gate.clone(), sizes.clone());
            move |numbers: Vec<u32>| {
                let (gate, sizes) = (gate.clone(), sizes.clone());
                async move {
                    sizes.lock().unwrap().push(numbers.len());
                    gate.acquire().await.unwrap().forget();
                    numbers.into_iter().map(|number| number * 2).collect()
                }
            }
        });
        (batcher, gate, sizes)
    }

    fn submit_all(batcher: &Batcher<u32, u32>, numbers: std::ops::Range<u32>) -> Vec<tokio::task::JoinHandle<u32>> {
        numbers
            .map(|number| {
                let batcher = batcher.clone();
                tokio::spawn(async move { batcher.submit(number).await.unwrap() })
            })
            .collect()
    }

    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn requests_gather_while_a_call_is_under_way_and_each_gets_its_own_result() {
        let (batcher, gate, sizes) = gated(CONFIG);
        let first = submit_all(&batcher, 0..1);
        settle().await;
        let rest = submit_all(&batcher, 1..21);
        settle().await;
        assert_eq!(batcher.queued(), 20);
        gate.add_permits(3);
        let results: Vec<u32> =
            join_all(first.into_iter().chain(rest)).await.into_iter().map(|result| result.unwrap()).collect();
        assert_eq!(results, (0..21).map(|number| number * 2).collect::<Vec<_>>());
        assert_eq!(*sizes.lock().unwrap(), [1, 16, 4]);
    }

    #[tokio::test]
    async fn no_more_calls_than_allowed_are_under_way_and_a_full_queue_makes_callers_wait() {
        let config = BatcherConfig { queue_max: 3, batch_max: 1, in_flight_max: 2, apart: Duration::ZERO };
        let (batcher, gate, sizes) = gated(config);
        let callers = submit_all(&batcher, 0..8);
        settle().await;
        assert_eq!((sizes.lock().unwrap().len(), batcher.queued()), (2, 3));
        assert!(batcher.submit(9).now_or_never().is_none(), "the queue is full");
        gate.add_permits(100);
        assert!(join_all(callers).await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn a_panic_or_a_wrong_number_of_results_fails_that_batch_only() {
        let batcher = Batcher::start("faulty", CONFIG, |words: Vec<&'static str>| {
            assert_ne!(words[0], "panic at once");
            async move {
                assert_ne!(words[0], "panic");
                if words[0] == "short" { vec![] } else { words }
            }
        });
        for word in ["panic", "panic at once", "short"] {
            assert_eq!(batcher.submit(word).await, Err(BatchError::OutcomeUnknown));
            assert_eq!(batcher.submit("well").await, Ok("well"));
        }
    }

    #[tokio::test]
    async fn closing_handles_what_was_accepted_and_refuses_the_rest() {
        let (batcher, gate, _) = gated(CONFIG);
        let callers = submit_all(&batcher, 0..40);
        settle().await;
        let closed = Arc::new(Notify::new());
        let closing = tokio::spawn({
            let (batcher, closed) = (batcher.clone(), closed.clone());
            async move {
                batcher.close().await;
                closed.notify_one();
            }
        });
        settle().await;
        assert!(closed.notified().now_or_never().is_none(), "a call is under way");
        gate.add_permits(1);
        settle().await;
        assert_eq!(batcher.submit(1).await, Err(BatchError::NotAccepted));
        gate.add_permits(100);
        closing.await.unwrap();
        assert!(join_all(callers).await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn dropping_the_last_handle_still_handles_what_waits() {
        let (batcher, gate, _) = gated(CONFIG);
        let callers = submit_all(&batcher, 0..3);
        settle().await;
        drop(batcher);
        gate.add_permits(100);
        assert!(join_all(callers).await.iter().all(Result::is_ok));
    }
}
