//! SQLite: one file, one writer, several readers, each a thread of its own.
//!
//! The writer drains its queue into one transaction. A job that fails is undone alone (each after the first is a savepoint),
//! and nobody is answered before the commit is on disk (`synchronous=FULL`). Many callers share one fsync that way (group
//! commit), and a single one pays no more than its own. A job that nobody waits for is held back a little, and goes along
//! with the next that somebody does.
//!
//! Other processes may use the file as well (management commands while a server runs): SQLite's own locks keep them apart,
//! and the writer looks a few times a second if somebody else has written.

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

/// Jobs that wait for the writer; further callers wait to be let in.
const WRITES_QUEUED_MAX: usize = 4_096;
/// Jobs in one transaction.
const GROUP_COMMIT_JOBS_MAX: usize = 512;
/// Readers, and so reads under way at the same time.
const READERS: usize = 4;
/// Reads that wait for a reader.
const READS_QUEUED_MAX: usize = 4_096;
/// How often the writer looks if another process has written.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements kept by each connection.
const STATEMENTS_MAX: usize = 256;
/// Page cache of each connection, in KiB. A commit after pages were balanced goes through all of it, as they have a number past
/// the file's end for a moment: what is larger than the pages in daily use costs more than it saves.
const CACHE_KIB: i32 = 8 * 1024;

/// An open file. Clones share it.
#[derive(Clone)]
pub struct Database {
    writer: JobQueue,
    readers: JobQueue,
    remote_changes: Signal,
    /// The folder of a temporary database; it is deleted with the last clone.
    _folder: Option<Arc<TempDir>>,
}

/// When a commit has returned, is it on disk?
#[derive(Clone, Copy)]
enum Synchronous {
    /// Yes: SQLite waits for `fsync`.
    Full,
    /// No: the operating system writes later.
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

/// A queue of jobs in front of one or more threads. `room` makes callers wait without blocking their thread.
#[derive(Clone)]
struct JobQueue {
    jobs: SyncSender<QueuedJob>,
    permits: Arc<Semaphore>,
}

/// A job in a queue.
struct QueuedJob {
    job: Box<dyn Job>,
    /// Until then it may wait for company; at once when there is none.
    until: Option<Instant>,
}

/// Something to do with a connection.
trait Job: Send {
    /// Does it and keeps the result; true when what it wrote is to stay.
    fn run(&mut self, db: &Connection) -> bool;
    /// Answers the caller: with the result, or with why it did not become true.
    fn answer(self: Box<Self>, committed: Result<(), EngineError>);
}

struct PendingJob<F, T, E> {
    work: Option<F>,
    result: Option<Result<T, Failed<E>>>,
    caller: oneshot::Sender<Result<T, Failed<E>>>,
    /// The place in the queue. It is the job's, not the caller's: a job whose caller has gone still stands there.
    _permit: OwnedSemaphorePermit,
}

enum Failed<E> {
    /// The job said so.
    Job(E),
    /// The engine could not do it.
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
        // A panic is the job's own: the thread serves all the others.
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
            // What a job refused stays refused, whatever became of the others.
            (Err(_), Some(Err(failed))) => Err(failed),
            (Err(error), _) => Err(Failed::Engine(error)),
            (Ok(()), None) => Err(Failed::Engine(EngineError::Closed)),
        };
        // Nobody listens when the caller has gone; what was committed stays.
        let _ = self.caller.send(result);
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".to_owned())
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

    /// Opens a new database in a temporary folder, for tests and simulations: the last clone deletes it, and commits do not
    /// wait for the disk (`synchronous=OFF`). Everything else is as in [`Database::open`].
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
        // Checkpoints of 4 MiB of log: small enough not to be felt, large enough to write a page once for many changes.
        writer.pragma_update(None, "wal_autocheckpoint", 1_000)?;
        migrate(&mut writer)?;
        let remote_changes = Signal::new();
        let (jobs, queue) = sync_channel(WRITES_QUEUED_MAX);
        let signal = remote_changes.clone();
        spawn("sqlite-writer", move || run_writer(&writer, &queue, &signal))?;
        let writer = JobQueue { jobs, permits: Arc::new(Semaphore::new(WRITES_QUEUED_MAX)) };
        Ok(Database { writer, readers: start_readers(path)?, remote_changes, _folder: folder })
    }

    /// Does `job` in a transaction and answers when it is on disk. What an error of the job's has written is undone.
    pub async fn write<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.writer.call(job, None).await
    }

    /// The same, for what may wait `within` for another job to share its transaction with.
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

    /// Does `job` on a state of one moment, without writing.
    pub async fn read<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.readers.call(job, None).await
    }

    /// Signals that another process wrote to the file.
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
        let room = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (caller, answer) = oneshot::channel();
        let job = Box::new(PendingJob { work: Some(work), result: None, caller, _permit: room });
        // There is a place in the queue for each permit.
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

/// The writer's life: it ends when the last [`Database`] is dropped.
fn run_writer(db: &Connection, queue: &Receiver<QueuedJob>, remote_changes: &Signal) {
    let (mut seen, mut looked) = (data_version(db), Instant::now());
    // Jobs that wait for company, and until when.
    let (mut held, mut until) = (Vec::new(), None::<Instant>);
    loop {
        let wait =
            until.map_or(POLL_INTERVAL, |until| until.saturating_duration_since(Instant::now()).min(POLL_INTERVAL));
        let is_company = match queue.recv_timeout(wait) {
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
        if is_company || until.is_some_and(|until| until <= Instant::now()) {
            commit_group(db, std::mem::take(&mut held), queue);
            until = None;
        }
        if looked.elapsed() < POLL_INTERVAL {
            continue;
        }
        looked = Instant::now();
        // The number changes with commits of other connections only, and the readers write nothing.
        let now = data_version(db);
        if now != seen {
            seen = now;
            remote_changes.notify();
        }
    }
}

fn data_version(db: &Connection) -> Option<i64> {
    db.prepare_cached("PRAGMA data_version").ok()?.query_row((), |row| row.get(0)).ok()
}

/// Does the jobs in one transaction, with those that come meanwhile, and answers them when it is on disk.
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
        // Nothing of it may stay; if even this fails, the next BEGIN says so.
        let _ = execute(db, "ROLLBACK");
    }
    // There are jobs left that were not begun when the transaction as a whole failed.
    for job in done.into_iter().chain(jobs) {
        job.answer(outcome.clone());
    }
}

/// Begins a transaction with its first job. One that fails is undone with all of it, which so far is nothing else: most
/// transactions have one job, and do without the copies of pages that a savepoint costs.
fn begin_transaction_with(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
    execute(db, "BEGIN IMMEDIATE")?;
    if !job.run(db) {
        execute(db, "ROLLBACK")?;
        execute(db, "BEGIN IMMEDIATE")?;
    }
    Ok(())
}

/// A further job: when it fails, it is undone alone. An error here is one of the transaction as a whole.
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
        // One reader waits for a job while holding the lock, the others wait for the lock: each job wakes one.
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
