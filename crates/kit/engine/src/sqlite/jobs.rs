//! Jobs, and the bounded queue that hands them to the thread of a connection.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::EngineError;

/// The bounded job queue of one or more threads. Callers wait for a permit without blocking their thread.
pub(super) struct JobQueue {
    jobs: SyncSender<QueuedJob>,
    permits: Arc<Semaphore>,
}

/// A queued job.
pub(super) struct QueuedJob {
    pub(super) job: Box<dyn Job>,
    /// When the job must run at the latest. Until then it may wait to share a transaction. None: immediately.
    pub(super) until: Option<Instant>,
}

/// Work on a connection.
pub(super) trait Job: Send {
    /// Runs the work and stores its result. True when the changes must be committed.
    fn run(&mut self, db: &Connection) -> bool;
    /// Sends the caller the result, or the error of the commit.
    fn answer(self: Box<Self>, committed: Result<(), EngineError>);
    /// True when the caller no longer waits for the result.
    fn is_abandoned(&self) -> bool;
}

struct PendingJob<F, T, E> {
    work: Option<F>,
    result: Option<Result<T, Failed<E>>>,
    caller: oneshot::Sender<Result<T, Failed<E>>>,
    /// The job owns the permit, because a job occupies the queue even after its caller has stopped waiting.
    _permit: OwnedSemaphorePermit,
}

enum Failed<E> {
    /// The error of the job.
    Job(E),
    /// The error of the engine.
    Engine(EngineError),
}

impl<F, T, E> Job for PendingJob<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    E: Send,
{
    fn run(&mut self, db: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        // A panic must not end the thread, which runs the other jobs.
        let result = match catch_unwind(AssertUnwindSafe(|| work(db))) {
            Ok(result) => result.map_err(Failed::Job),
            Err(panic) => Err(Failed::Engine(EngineError::Panicked(panic_message(panic.as_ref())))),
        };
        let succeeded = result.is_ok();
        self.result = Some(result);
        succeeded
    }

    fn answer(self: Box<Self>, committed: Result<(), EngineError>) {
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            // The error of the job takes precedence over the error of the commit.
            (Err(_), Some(Err(failed))) => Err(failed),
            (Err(error), _) => Err(Failed::Engine(error)),
            (Ok(()), None) => Err(Failed::Engine(EngineError::Closed)),
        };
        // The send fails when the caller no longer waits. The changes stay committed.
        let _ = self.caller.send(result);
    }

    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no panic message".to_owned())
}

impl JobQueue {
    /// A queue for `jobs_max` jobs, and its receiver. Further callers wait.
    pub(super) fn new(jobs_max: usize) -> (Self, Receiver<QueuedJob>) {
        let (jobs, receiver) = sync_channel(jobs_max);
        (Self { jobs, permits: Arc::new(Semaphore::new(jobs_max)) }, receiver)
    }

    pub(super) async fn call<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        until: Option<Instant>,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        let closed = || E::from(EngineError::Closed);
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (caller, answer) = oneshot::channel();
        let job = Box::new(PendingJob { work: Some(work), result: None, caller, _permit: permit });
        // The queue is never full: it has as many places as permits.
        self.jobs.try_send(QueuedJob { job, until }).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Disconnected(_) => closed(),
        })?;
        match answer.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(Failed::Job(error))) => Err(error),
            Ok(Err(Failed::Engine(error))) => Err(error.into()),
            Err(_) => Err(closed()),
        }
    }
}
