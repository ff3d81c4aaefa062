//! Long-running workers and their graceful shutdown.
//!
//! The binary spawns each worker (timers, publisher, dispatcher, sweeps) by name and shuts all of them down on a signal
//! of the operating system. A worker that panics is started again after a pause, so that one bad row does not stop the
//! sales.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::backoff::backoff;

const RESTART_PAUSE_MIN: Duration = Duration::from_millis(100);
const RESTART_PAUSE_MAX: Duration = Duration::from_secs(30);
/// When a worker ran this long before a panic, its next pause is the shortest one again.
const PANIC_COUNT_RESET_AFTER: Duration = Duration::from_secs(60);

/// The workers of a process. Clones share the set.
#[derive(Clone, Default)]
pub struct Tasks {
    stopping: CancellationToken,
    workers: Arc<Mutex<Vec<Worker>>>,
}

struct Worker {
    name: &'static str,
    handle: JoinHandle<()>,
}

/// Workers that did not finish in time and were aborted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("these workers did not finish in time and were aborted: {}", names.join(", "))]
pub struct UnfinishedWorkers {
    /// Their names.
    pub names: Vec<&'static str>,
}

impl Tasks {
    /// A set without workers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The token that every worker gets. It is cancelled when the shutdown begins.
    pub fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// Starts a worker on the current runtime. After its token is cancelled it must finish its current step and return.
    /// A worker that returns earlier is done; one that panics is started again after a pause.
    pub fn spawn<W, F>(&self, name: &'static str, worker: W)
    where
        W: Fn(CancellationToken) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let handle = tokio::spawn(keep_running(name, worker, self.stopping.clone()));
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(Worker { name, handle });
    }

    /// Shuts all workers down and waits for them, at most `limit` in total. Workers that take longer are aborted and
    /// named.
    pub async fn shutdown(&self, limit: Duration) -> Result<(), UnfinishedWorkers> {
        self.stopping.cancel();
        let workers = std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = tokio::time::Instant::now() + limit;
        let mut names = Vec::new();
        for Worker { name, mut handle } in workers {
            // Each worker gets what is left of the common limit; one that has already finished needs none.
            if tokio::time::timeout_at(deadline, &mut handle).await.is_err() {
                handle.abort();
                names.push(name);
            }
        }
        if names.is_empty() { Ok(()) } else { Err(UnfinishedWorkers { names }) }
    }
}

async fn keep_running<W, F>(name: &'static str, worker: W, stopping: CancellationToken)
where
    W: Fn(CancellationToken) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let mut panics = 0_u32;
    loop {
        let started = Instant::now();
        // Call the worker inside, so that a panic before its first await is caught too.
        let run = AssertUnwindSafe(async { worker(stopping.clone()).await });
        let Err(panic) = run.catch_unwind().await else { return };
        panics = if started.elapsed() >= PANIC_COUNT_RESET_AFTER { 1 } else { panics.saturating_add(1) };
        let pause = backoff(panics, RESTART_PAUSE_MIN, RESTART_PAUSE_MAX, 1.0);
        let pause_ms = pause.as_millis();
        tracing::error!(
            worker = name,
            panics,
            pause_ms,
            reason = reason(&*panic),
            "a worker panicked and starts again after the pause"
        );
        tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

fn reason(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::signal::Signal;

    #[tokio::test]
    async fn shutdown_waits_until_every_worker_has_finished_its_step() {
        let tasks = Tasks::new();
        let finished = Arc::new(AtomicU32::new(0));
        for name in ["timers", "publisher"] {
            let finished = finished.clone();
            tasks.spawn(name, move |stopping| {
                let finished = finished.clone();
                async move {
                    stopping.cancelled().await;
                    tokio::task::yield_now().await;
                    finished.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        tasks.shutdown(Duration::from_secs(10)).await.unwrap();
        assert_eq!(finished.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_that_does_not_finish_is_named() {
        let tasks = Tasks::new();
        tasks.spawn("stuck", |_| std::future::pending());
        tasks.spawn("done", |_| async {});
        let unfinished = tasks.shutdown(Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(unfinished.names, ["stuck"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_that_panics_is_started_again() {
        let tasks = Tasks::new();
        let (runs, third) = (Arc::new(AtomicU32::new(0)), Signal::new());
        tasks.spawn("clumsy", {
            let (runs, third) = (runs.clone(), third.clone());
            move |_| {
                let run = runs.fetch_add(1, Ordering::SeqCst);
                assert_ne!(run, 0, "before the first await");
                let third = third.clone();
                async move {
                    assert_ne!(run, 1, "within");
                    third.notify();
                }
            }
        });
        third.wait().await;
        tasks.shutdown(Duration::from_secs(1)).await.unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), 3);
    }
}
