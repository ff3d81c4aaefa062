//! SQLite: one file with one writer and several readers, each on a thread of its own.
//!
//! Group commit: the writer runs all queued jobs in one transaction, so that many callers share one fsync. Each job
//! after the first runs in a savepoint. A deferred job ([`Database::write_within`]) waits a limited time for another
//! job whose transaction it can share.
//!
//! Guarantees: a caller gets its result only after the commit is on disk (`synchronous=FULL`); a job that fails is
//! rolled back alone.
//!
//! Other processes may use the file at the same time (management commands while a server runs). SQLite's locks
//! serialize them, and the writer checks ten times a second whether another process has written.

mod file_permissions;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kit_runtime::signal::Signal;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::EngineError;
use file_permissions::make_private;

/// Jobs in the queue of the writer; further callers wait for room.
const WRITES_QUEUED_MAX: usize = 4_096;
/// Jobs in one transaction.
const GROUP_COMMIT_JOBS_MAX: usize = 512;
/// Reader threads, and so reads at the same time.
const READERS: usize = 4;
/// Jobs in the queue of the readers; further callers wait for room.
const READS_QUEUED_MAX: usize = 4_096;
/// How often the writer checks whether another process has written.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time to wait for the lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements that each connection caches.
const STATEMENTS_MAX: usize = 256;
/// Page cache of each connection, in KiB. A commit that rebalances a B-tree scans the whole cache, so a cache larger
/// than the working set costs more than it saves.
const CACHE_KIB: i32 = 8 * 1024;

/// An open database file. Clones share it.
#[derive(Clone)]
pub struct Database {
    writer: JobQueue,
    readers: JobQueue,
    remote_changes: Signal,
    /// The folder of a temporary database; it is deleted with the last clone.
    _folder: Option<Arc<TempDir>>,
}

/// Whether a commit waits for the disk.
#[derive(Clone, Copy)]
enum Synchronous {
    /// SQLite waits for `fsync`.
    Full,
    /// The operating system writes later.
    Off,
}

impl Synchronous {
    fn pragma(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Off => "OFF",
        }
    }
}

/// The bounded job queue of one or more threads. Callers wait for a permit without blocking their thread.
#[derive(Clone)]
struct JobQueue {
    jobs: SyncSender<QueuedJob>,
    permits: Arc<Semaphore>,
}

/// A queued job.
struct QueuedJob {
    job: Box<dyn Job>,
    /// How long the job may wait to share a transaction; none when it must run immediately.
    until: Option<Instant>,
}

/// Work on a connection.
trait Job: Send {
    /// Runs the work and keeps its result; true when its changes are to be committed.
    fn run(&mut self, db: &Connection) -> bool;
    /// Sends the caller the result, or the error of the commit.
    fn answer(self: Box<Self>, committed: Result<(), EngineError>);
}

struct PendingJob<F, T, E> {
    work: Option<F>,
    result: Option<Result<T, Failed<E>>>,
    caller: oneshot::Sender<Result<T, Failed<E>>>,
    /// Belongs to the job and not to the caller: the job of a caller that has gone still occupies the queue.
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
        // Catch a panic: the thread goes on with the other jobs.
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
            // The job's own error comes before that of the commit.
            (Err(_), Some(Err(failed))) => Err(failed),
            (Err(error), _) => Err(Failed::Engine(error)),
            (Ok(()), None) => Err(Failed::Engine(EngineError::Closed)),
        };
        // The send fails when the caller has gone; the commit stays.
        let _ = self.caller.send(result);
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no panic message".to_owned())
}

impl Database {
    /// Opens the file at `path`, creates it if it does not exist, and applies the migrations with `migrate`.
    pub fn open(
        path: &Path,
        migrate: impl FnOnce(&mut Connection) -> Result<(), refinery::Error>,
    ) -> Result<Self, EngineError> {
        make_private(path);
        Self::start(path, Synchronous::Full, None, migrate)
    }

    /// Opens a new database in a temporary folder, for tests and simulations: the last clone deletes it, and commits do
    /// not wait for the disk (`synchronous=OFF`). Everything else is as in [`Database::open`].
    pub fn open_temporary(
        migrate: impl FnOnce(&mut Connection) -> Result<(), refinery::Error>,
    ) -> Result<Self, EngineError> {
        let folder = tempfile::tempdir().map_err(|error| EngineError::TemporaryFolder(Arc::new(error)))?;
        let path = folder.path().join("temporary.db");
        Self::start(&path, Synchronous::Off, Some(Arc::new(folder)), migrate)
    }

    fn start(
        path: &Path,
        synchronous: Synchronous,
        folder: Option<Arc<TempDir>>,
        migrate: impl FnOnce(&mut Connection) -> Result<(), refinery::Error>,
    ) -> Result<Self, EngineError> {
        let mut writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        writer.pragma_update(None, "journal_mode", "WAL")?;
        writer.pragma_update(None, "synchronous", synchronous.pragma())?;
        writer.pragma_update(None, "foreign_keys", "ON")?;
        // A checkpoint for each 4 MiB of WAL: short enough not to delay commits, large enough to merge changes of a
        // page.
        writer.pragma_update(None, "wal_autocheckpoint", 1_000)?;
        migrate(&mut writer)?;
        let remote_changes = Signal::new();
        let (jobs, queue) = sync_channel(WRITES_QUEUED_MAX);
        let signal = remote_changes.clone();
        spawn("sqlite-writer", move || run_writer(&writer, &queue, &signal))?;
        let writer = JobQueue { jobs, permits: Arc::new(Semaphore::new(WRITES_QUEUED_MAX)) };
        Ok(Database { writer, readers: start_readers(path)?, remote_changes, _folder: folder })
    }

    /// Runs `job` in a transaction and returns when the commit is on disk. If the job fails, its changes are rolled
    /// back.
    pub async fn write<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.writer.call(job, None).await
    }

    /// Like [`Database::write`], but the job may wait up to `within` for another job whose transaction it can share.
    pub async fn write_within<T, E>(
        &self,
        within: Duration,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.writer.call(job, Some(Instant::now() + within)).await
    }

    /// Runs `job` on one snapshot of the database. It must not write.
    pub async fn read<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.readers.call(job, None).await
    }

    /// Notified when another process has written to the file.
    pub fn remote_changes(&self) -> Signal {
        self.remote_changes.clone()
    }
}

impl JobQueue {
    async fn call<T, E>(
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
        // The queue has room for each permit.
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

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, EngineError> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    db.pragma_update(None, "cache_size", -CACHE_KIB)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(db)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), EngineError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|error| EngineError::Thread(Arc::new(error)))
}

/// The writer thread; it ends when the last [`Database`] is dropped.
fn run_writer(db: &Connection, queue: &Receiver<QueuedJob>, remote_changes: &Signal) {
    let (mut version, mut checked_at) = (data_version(db), Instant::now());
    // Deferred jobs and the earliest of their deadlines.
    let (mut held, mut until) = (Vec::new(), None::<Instant>);
    loop {
        let wait =
            until.map_or(POLL_INTERVAL, |until| until.saturating_duration_since(Instant::now()).min(POLL_INTERVAL));
        let must_commit = match queue.recv_timeout(wait) {
            Ok(QueuedJob { job, until: at }) => {
                held.push(job);
                until = until.into_iter().chain(at).min();
                at.is_none() || held.len() >= GROUP_COMMIT_JOBS_MAX
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                commit_group(db, held, queue);
                return;
            }
        };
        if must_commit || until.is_some_and(|until| until <= Instant::now()) {
            commit_group(db, std::mem::take(&mut held), queue);
            until = None;
        }
        if checked_at.elapsed() < POLL_INTERVAL {
            continue;
        }
        checked_at = Instant::now();
        // The version changes only with commits of other connections, and the readers do not write.
        let current = data_version(db);
        if current != version {
            version = current;
            remote_changes.notify();
        }
    }
}

fn data_version(db: &Connection) -> Option<i64> {
    db.prepare_cached("PRAGMA data_version").ok()?.query_row((), |row| row.get(0)).ok()
}

/// Runs the jobs, and those that are queued meanwhile, in one transaction, and sends the results after the commit.
fn commit_group(db: &Connection, jobs: Vec<Box<dyn Job>>, queue: &Receiver<QueuedJob>) {
    let mut done: Vec<Box<dyn Job>> = Vec::with_capacity(jobs.len() + 1);
    let mut outcome = Ok(());
    let mut jobs = jobs.into_iter();
    while outcome.is_ok() && done.len() < GROUP_COMMIT_JOBS_MAX {
        let Some(mut job) = jobs.next().or_else(|| queue.try_recv().ok().map(|queued| queued.job)) else { break };
        outcome =
            if done.is_empty() { begin_transaction_with(db, job.as_mut()) } else { run_in_savepoint(db, job.as_mut()) };
        done.push(job);
    }
    if done.is_empty() {
        return;
    }
    outcome = outcome.and_then(|()| execute(db, "COMMIT"));
    if outcome.is_err() && !db.is_autocommit() {
        // If this fails, the next BEGIN fails.
        let _ = execute(db, "ROLLBACK");
    }
    // If the transaction failed, some jobs have not run.
    for job in done.into_iter().chain(jobs) {
        job.answer(outcome.clone());
    }
}

/// Begins a transaction and runs its first job. If the job fails, the whole transaction is rolled back and begun again.
/// Most transactions have one job, and so avoid the page copies of a savepoint.
fn begin_transaction_with(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
    execute(db, "BEGIN IMMEDIATE")?;
    if !job.run(db) {
        execute(db, "ROLLBACK")?;
        execute(db, "BEGIN IMMEDIATE")?;
    }
    Ok(())
}

/// Runs a further job in a savepoint; if the job fails, only the savepoint is rolled back. An error here concerns the
/// whole transaction.
fn run_in_savepoint(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
    execute(db, "SAVEPOINT job")?;
    if !job.run(db) {
        execute(db, "ROLLBACK TO job")?;
    }
    execute(db, "RELEASE job")
}

fn execute(db: &Connection, sql: &str) -> Result<(), EngineError> {
    db.prepare_cached(sql)?.execute(())?;
    Ok(())
}

fn start_readers(path: &Path) -> Result<JobQueue, EngineError> {
    let (jobs, queue) = sync_channel::<QueuedJob>(READS_QUEUED_MAX);
    let queue = Arc::new(Mutex::new(queue));
    for number in 1..=READERS {
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.pragma_update(None, "query_only", "ON")?;
        let queue = queue.clone();
        spawn(&format!("sqlite-reader-{number}"), move || run_reader(&db, &queue))?;
    }
    Ok(JobQueue { jobs, permits: Arc::new(Semaphore::new(READS_QUEUED_MAX)) })
}

fn run_reader(db: &Connection, queue: &Mutex<Receiver<QueuedJob>>) {
    loop {
        // One reader waits for a job and holds the lock, the others wait for the lock: each job wakes one reader.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(QueuedJob { mut job, .. }) = job else { return };
        let begun = execute(db, "BEGIN");
        if begun.is_ok() {
            job.run(db);
        }
        let _ = execute(db, "ROLLBACK");
        job.answer(begun);
    }
}

#[cfg(test)]
mod tests;
