//! Batching of concurrent requests: many callers share one call that is expensive per call and cheap per row, such as a
//! durable transaction. The stores, the publisher and the dispatcher use it.
//!
//! Actors: callers [`Batcher::submit`] requests and wait. One task takes the queued requests and passes them to the
//! handler as a batch, with at most `in_flight_max` calls at the same time. While the calls run, the next batch
//! collects in the queue. After a large batch the next call waits `min_interval`, so that each call carries more
//! requests. A request that arrives alone, or after a pause, is not delayed. The queue is bounded: when it is full,
//! callers wait for room.
//!
//! Guarantees:
//! - every request gets one response: its own result or a [`BatchError`];
//! - a handler that panics, or returns the wrong number of results, fails only the callers of that batch;
//! - when [`Batcher::close`] returns, every accepted request has been handled and no further one is accepted.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the task yields before a call, so that other ready tasks can add their requests to the same batch.
const YIELDS_MAX: usize = 8;
/// Requests from which a batch counts as large: others most likely follow.
const LARGE_BATCH_MIN: usize = 8;
/// Upper bound of [`BatcherConfig::in_flight_max`].
const IN_FLIGHT_LIMIT: usize = 4_096;

/// Bounds of a [`Batcher`]; a zero counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatcherConfig {
    /// Requests that the queue holds; further callers wait for room.
    pub queue_max: usize,
    /// Requests in one call of the handler.
    pub batch_max: usize,
    /// Calls of the handler at the same time.
    pub in_flight_max: usize,
    /// Time between the start of a call with eight requests or more and the next call.
    pub min_interval: Duration,
}

/// Why a request got no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The batcher is closed. The request was not handled.
    #[error("the server is shutting down and accepts no more requests")]
    NotAccepted,
    /// The handler failed, and the request may or may not have taken effect.
    #[error("the request was interrupted; it may or may not have taken effect")]
    OutcomeUnknown,
}

/// The queue of a batching task. Clones share the queue; when the last one is dropped, the task handles the queued
/// requests and ends.
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
    /// Starts the batching task on the current runtime. `handler` returns one result for each request, in their order.
    /// The log shows `name`.
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

    /// Queues a request and waits for its result; when the queue is full, it waits for room first.
    ///
    /// Dropping the future withdraws the request only while it waits for room. Once queued, the request is handled.
    pub fn submit(&self, request: Req) -> impl Future<Output = Result<Res, BatchError>> + Send {
        let (answer, result) = oneshot::channel();
        let entry = QueuedRequest { request, answer };
        // Not an `async fn`: that would store the request up to three times in a future that every caller's future
        // holds.
        async move {
            self.queue.reserve().await.map_err(|_| BatchError::NotAccepted)?.send(entry);
            result.await.map_err(|_| BatchError::OutcomeUnknown)
        }
    }

    /// Requests in the queue.
    pub fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Accepts no more requests, and returns when every accepted one has been handled.
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
    // A guard, so that `close` returns even if the runtime drops this task.
    let _drained = drained.drop_guard();
    let in_flight_max = config.in_flight_max.clamp(1, IN_FLIGHT_LIMIT);
    let batch_max = config.batch_max.max(1);
    let handler = Arc::new(handler);
    let calls = Arc::new(Semaphore::new(in_flight_max));
    let mut batch = Vec::with_capacity(batch_max.min(config.queue_max));
    let mut open = true;
    let mut not_before = Instant::now();
    // Take the slot before the requests, so that the batch grows while all slots are in use.
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
            not_before = Instant::now() + config.min_interval;
        }
        let (requests, answers): (Vec<Req>, Vec<_>) =
            batch.drain(..).map(|entry| (entry.request, entry.answer)).unzip();
        let handler = Arc::clone(&handler);
        tokio::spawn(async move {
            // Call the handler inside, so that a panic before its first await is caught too.
            let results = AssertUnwindSafe(async { handler(requests).await }).catch_unwind().await;
            send_results(name, answers, results.ok());
            drop(slot);
        });
    }
    // When all slots are free, no call is in flight.
    let _idle = calls.acquire_many(in_flight_max as u32).await;
}

/// Sends each caller its result. Without results, or with the wrong number of them, every caller gets
/// [`BatchError::OutcomeUnknown`], so that no caller receives the result of another request.
fn send_results<Res>(name: &'static str, answers: Vec<oneshot::Sender<Res>>, results: Option<Vec<Res>>) {
    let Some(results) = results else {
        tracing::error!(batcher = name, requests = answers.len(), "a batch handler panicked; its callers get an error");
        return;
    };
    if results.len() != answers.len() {
        tracing::error!(
            batcher = name,
            requests = answers.len(),
            results = results.len(),
            "a batch handler returned the wrong number of results; its callers get an error"
        );
        return;
    }
    for (answer, result) in answers.into_iter().zip(results) {
        // The send fails if the caller has dropped its future.
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
        BatcherConfig { queue_max: 64, batch_max: 16, in_flight_max: 1, min_interval: Duration::ZERO };

    type Sizes = Arc<Mutex<Vec<usize>>>;

    /// A batcher that doubles numbers. Each call waits for a permit of the returned semaphore; the list holds the batch
    /// sizes.
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
    async fn requests_collect_while_a_call_is_in_flight_and_each_gets_its_own_result() {
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
    async fn calls_in_flight_are_limited_and_callers_wait_when_the_queue_is_full() {
        let config = BatcherConfig { queue_max: 3, batch_max: 1, in_flight_max: 2, min_interval: Duration::ZERO };
        let (batcher, gate, sizes) = gated(config);
        let callers = submit_all(&batcher, 0..8);
        settle().await;
        assert_eq!((sizes.lock().unwrap().len(), batcher.queued()), (2, 3));
        assert!(batcher.submit(9).now_or_never().is_none(), "the queue is full");
        gate.add_permits(100);
        assert!(join_all(callers).await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn a_panic_or_a_wrong_number_of_results_fails_only_that_batch() {
        let batcher = Batcher::start("faulty", CONFIG, |words: Vec<&'static str>| {
            assert_ne!(words[0], "panic before the first await");
            async move {
                assert_ne!(words[0], "panic");
                if words[0] == "short" { vec![] } else { words }
            }
        });
        for word in ["panic", "panic before the first await", "short"] {
            assert_eq!(batcher.submit(word).await, Err(BatchError::OutcomeUnknown));
            assert_eq!(batcher.submit("well").await, Ok("well"));
        }
    }

    #[tokio::test]
    async fn closing_handles_accepted_requests_and_rejects_later_ones() {
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
        assert!(closed.notified().now_or_never().is_none(), "a call is in flight");
        gate.add_permits(1);
        settle().await;
        assert_eq!(batcher.submit(1).await, Err(BatchError::NotAccepted));
        gate.add_permits(100);
        closing.await.unwrap();
        assert!(join_all(callers).await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn queued_requests_are_handled_when_the_last_handle_is_dropped() {
        let (batcher, gate, _) = gated(CONFIG);
        let callers = submit_all(&batcher, 0..3);
        settle().await;
        drop(batcher);
        gate.add_permits(100);
        assert!(join_all(callers).await.iter().all(Result::is_ok));
    }
}
