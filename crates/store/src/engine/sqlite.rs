//! SQLite: one file, one writer, several readers, each a thread of its own.
//!
//! The writer drains its queue into one transaction. A job that fails is undone alone (each after the first is a savepoint),
//! and nobody is answered before the commit is on disk (`synchronous=FULL`). Many callers share one fsync that way (group
//! commit), and a single one pays no more than its own.
//!
//! Other processes may use the file as well (management commands while a server runs): SQLite's own locks keep them apart,
//! and the writer looks a few times a second if somebody else has written.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use runtime::signal::Signal;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::EngineError;

/// Jobs that wait for the writer; further callers wait to be let in.
const WRITES_QUEUED_MAX: usize = 4_096;
/// Jobs in one transaction.
const WRITES_TOGETHER_MAX: usize = 512;
/// Readers, and so reads under way at the same time.
const READERS: usize = 4;
/// Reads that wait for a reader.
const READS_QUEUED_MAX: usize = 4_096;
/// How often the writer looks if another process has written.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long to wait for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements kept by each connection.
const STATEMENTS_MAX: usize = 256;
/// Page cache of each connection, in KiB.
const CACHE_KIB: i32 = 16 * 1024;

/// An open file. Clones share it.
#[derive(Clone)]
pub(crate) struct Database {
    writer: Lane,
    readers: Lane,
    changed_elsewhere: Signal,
}

/// A queue of jobs in front of one or more threads. `room` makes callers wait without blocking their thread.
#[derive(Clone)]
struct Lane {
    jobs: SyncSender<Box<dyn Job>>,
    room: Arc<Semaphore>,
}

/// Something to do with a connection.
trait Job: Send {
    /// Does it and keeps the result; true when what it wrote is to stay.
    fn run(&mut self, db: &Connection) -> bool;
    /// Answers the caller: with the result, or with why it did not become true.
    fn answer(self: Box<Self>, committed: Result<(), EngineError>);
}

struct Call<F, T, E> {
    work: Option<F>,
    result: Option<Result<T, Failed<E>>>,
    caller: oneshot::Sender<Result<T, Failed<E>>>,
    /// The place in the queue. It is the job's, not the caller's: a job whose caller has gone still stands there.
    _room: OwnedSemaphorePermit,
}

enum Failed<E> {
    /// The job said so.
    Job(E),
    /// The engine could not do it.
    Engine(EngineError),
}

impl<F, T, E> Job for Call<F, T, E>
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
            Err(panic) => Err(Failed::Engine(EngineError::Panicked(text_of(panic.as_ref())))),
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

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".to_owned())
}

impl Database {
    /// Opens the file at `path`, makes it when it is not there, and brings its tables up to date with `migrate`.
    pub(crate) fn open(
        path: &Path,
        migrate: impl FnOnce(&mut Connection) -> Result<(), refinery::Error>,
    ) -> Result<Self, EngineError> {
        let mut writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        writer.pragma_update(None, "journal_mode", "WAL")?;
        writer.pragma_update(None, "synchronous", "FULL")?;
        writer.pragma_update(None, "foreign_keys", "ON")?;
        // Checkpoints of 4 MiB of log: small enough not to be felt, large enough to write a page once for many changes.
        writer.pragma_update(None, "wal_autocheckpoint", 1_000)?;
        migrate(&mut writer)?;
        let changed_elsewhere = Signal::new();
        let (jobs, queue) = sync_channel(WRITES_QUEUED_MAX);
        let signal = changed_elsewhere.clone();
        spawn("sqlite-writer", move || write_all(&writer, &queue, &signal))?;
        let writer = Lane { jobs, room: Arc::new(Semaphore::new(WRITES_QUEUED_MAX)) };
        Ok(Database { writer, readers: start_readers(path)?, changed_elsewhere })
    }

    /// Does `job` in a transaction and answers when it is on disk. What an error of the job's has written is undone.
    pub(crate) async fn write<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.writer.call(job).await
    }

    /// Does `job` on a state of one moment, without writing.
    pub(crate) async fn read<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.readers.call(job).await
    }

    /// Signals that another process wrote to the file.
    pub(crate) fn changed_elsewhere(&self) -> Signal {
        self.changed_elsewhere.clone()
    }
}

impl Lane {
    async fn call<T, E>(&self, work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        let closed = || E::from(EngineError::Closed);
        let room = self.room.clone().acquire_owned().await.map_err(|_| closed())?;
        let (caller, answer) = oneshot::channel();
        let job = Box::new(Call { work: Some(work), result: None, caller, _room: room });
        // There is a place in the queue for each permit.
        self.jobs.try_send(job).map_err(|error| match error {
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
fn write_all(db: &Connection, queue: &Receiver<Box<dyn Job>>, changed_elsewhere: &Signal) {
    let (mut seen, mut looked) = (data_version(db), Instant::now());
    loop {
        match queue.recv_timeout(LOOK_EVERY) {
            Ok(first) => write_together(db, first, queue),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if looked.elapsed() < LOOK_EVERY {
            continue;
        }
        looked = Instant::now();
        // The number changes with commits of other connections only, and the readers write nothing.
        let now = data_version(db);
        if now != seen {
            seen = now;
            changed_elsewhere.notify();
        }
    }
}

fn data_version(db: &Connection) -> Option<i64> {
    db.prepare_cached("PRAGMA data_version").ok()?.query_row((), |row| row.get(0)).ok()
}

fn write_together(db: &Connection, mut first: Box<dyn Job>, queue: &Receiver<Box<dyn Job>>) {
    let mut outcome = begin_with(db, first.as_mut());
    let mut done = vec![first];
    while outcome.is_ok() && done.len() < WRITES_TOGETHER_MAX {
        let Ok(mut job) = queue.try_recv() else { break };
        outcome = one_more(db, job.as_mut());
        done.push(job);
    }
    outcome = outcome.and_then(|()| execute(db, "COMMIT"));
    if outcome.is_err() && !db.is_autocommit() {
        // Nothing of it may stay; if even this fails, the next BEGIN says so.
        let _ = execute(db, "ROLLBACK");
    }
    for job in done {
        job.answer(outcome.clone());
    }
}

/// Begins a transaction with its first job. One that fails is undone with all of it, which so far is nothing else: most
/// transactions have one job, and do without the copies of pages that a savepoint costs.
fn begin_with(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
    execute(db, "BEGIN IMMEDIATE")?;
    if !job.run(db) {
        execute(db, "ROLLBACK")?;
        execute(db, "BEGIN IMMEDIATE")?;
    }
    Ok(())
}

/// A further job: when it fails, it is undone alone. An error here is one of the transaction as a whole.
fn one_more(db: &Connection, job: &mut dyn Job) -> Result<(), EngineError> {
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

fn start_readers(path: &Path) -> Result<Lane, EngineError> {
    let (jobs, queue) = sync_channel::<Box<dyn Job>>(READS_QUEUED_MAX);
    let queue = Arc::new(Mutex::new(queue));
    for number in 1..=READERS {
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.pragma_update(None, "query_only", "ON")?;
        let queue = queue.clone();
        spawn(&format!("sqlite-reader-{number}"), move || read_all(&db, &queue))?;
    }
    Ok(Lane { jobs, room: Arc::new(Semaphore::new(READS_QUEUED_MAX)) })
}

fn read_all(db: &Connection, queue: &Mutex<Receiver<Box<dyn Job>>>) {
    loop {
        // One reader waits for a job while holding the lock, the others wait for the lock: each job wakes one.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut job) = job else { return };
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
