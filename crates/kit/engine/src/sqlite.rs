//! SQLite: one file with one writer and several readers, each on its own thread.
//!
//! Group commit: the writer runs all queued jobs in one transaction, so that many callers share one fsync. Each job
//! after the first runs in a savepoint. A deferred job ([`Database::write_within`]) waits a limited time to share the
//! transaction of another job.
//!
//! Guarantees: a caller receives its result only after the commit is on disk (`synchronous=FULL`); if a job fails, only
//! its changes are rolled back. When the last [`Database`] of a file is dropped, the write-ahead log is copied into the
//! main file, which is complete without it, and all connections are closed.
//!
//! Other processes may use the file at the same time (management commands while a server runs). SQLite's locks
//! serialize them, and the writer checks ten times a second whether another process has written.

mod contents;
mod file_permissions;
mod free_pages;
mod integrity;
mod jobs;
mod migrations;
mod snapshot;
mod threads;
mod writer;

use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use refinery::Runner;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use self::file_permissions::make_private;
use self::integrity::Integrity;
pub(crate) use self::integrity::is_damage;
use self::jobs::{JobQueue, QueuedJob};
use self::migrations::MigrationLock;
use self::threads::Threads;
use crate::{EngineError, OlderTables};

pub use self::contents::{FileContents, file_contents};
pub use self::integrity::check_file;
pub use self::migrations::table_versions;
pub use self::snapshot::{Copied, Snapshots, complete_file};

/// Maximum number of jobs in the queue of the writer. Further callers wait.
const WRITES_QUEUED_MAX: usize = 4_096;
/// Number of reader threads.
const READERS: usize = 4;
/// Maximum number of jobs in the queue of the readers. Further callers wait.
const READS_QUEUED_MAX: usize = 4_096;
/// How often the writer checks whether another process has written.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time to wait for the lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of the write-ahead log that stay on the disk when it begins again after a checkpoint.
const WAL_KEPT_BYTES: i64 = 16 * 1024 * 1024;
/// Prepared statements that each connection caches.
const STATEMENTS_MAX: usize = 256;
/// Page cache of each connection, in KiB. A commit that rebalances a B-tree scans the whole cache, so a cache larger
/// than the working set costs more than it saves.
const CACHE_KIB: i32 = 8 * 1024;

/// An open database file. Clones share it. Dropping the last clone waits until queued writes are committed and all
/// connections are closed.
#[derive(Clone)]
pub struct Database(Arc<OpenDatabase>);

/// Rust drops the fields in this order. Dropping the sender of a queue ends its threads. The writer's connection is
/// closed last, so that no reader of this process blocks its checkpoint.
struct OpenDatabase {
    readers: JobQueue,
    _reader_threads: Threads,
    writer: JobQueue,
    _writer_thread: Threads,
    remote_changes: Signal,
    integrity: Integrity,
    /// The folder of a temporary database; dropping it deletes the folder.
    _folder: Option<TempDir>,
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

impl Database {
    /// Opens the file at `path`, creates it if it does not exist, and applies `migrations`. A lock lets one process at
    /// a time do so; the other processes wait for at most 60 s.
    ///
    /// The file is checked for damage first. A file of more than 64 MiB is checked in the background after it is
    /// opened: [`Database::check_intact`] returns the result.
    ///
    /// Errors: `Damaged`, `Migration`, `MigrationLocked`, `TablesAreOlder`, `Unsupported` if another build created the
    /// tables or a newer one made them unusable for this one, and `Sqlite` if the file can't be opened.
    pub fn open(path: &Path, migrations: &Runner, older: OlderTables) -> Result<Self, EngineError> {
        make_private(path);
        Self::start(path, Synchronous::Full, None, migrations, older)
    }

    /// Opens a new database in a temporary folder, for tests and simulations. The folder is deleted with the last
    /// clone, and commits do not wait for the disk (`synchronous=OFF`). Otherwise it behaves as after
    /// [`Database::open`].
    pub fn open_temporary(migrations: &Runner) -> Result<Self, EngineError> {
        let folder = tempfile::tempdir().map_err(|error| EngineError::TemporaryFolder(Arc::new(error)))?;
        let path = folder.path().join("temporary.db");
        Self::start(&path, Synchronous::Off, Some(folder), migrations, OlderTables::Upgrade)
    }

    fn start(
        path: &Path,
        synchronous: Synchronous,
        folder: Option<TempDir>,
        migrations: &Runner,
        older: OlderTables,
    ) -> Result<Self, EngineError> {
        // The lock is acquired before the journal mode is set, because another process may be creating the file.
        let migration_lock = MigrationLock::acquire(path)?;
        let mut db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // Before the first table, because only a VACUUM changes it later. The map of pages that it adds costs about 2 % of
        // CPU and 6 % more written pages. With it the writer returns free pages to the file system while it runs, without room for a copy.
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", synchronous.pragma())?;
        db.pragma_update(None, "foreign_keys", "ON")?;
        // One checkpoint for each 4 MiB of WAL: small enough not to delay commits, large enough to merge several
        // changes of one page.
        db.pragma_update(None, "wal_autocheckpoint", 1_000)?;
        // A log that grew, because a backup read an old snapshot, is cut to this size when it begins again.
        db.pragma_update(None, "journal_size_limit", WAL_KEPT_BYTES)?;
        let check_later = integrity::check_at_open(&db, path)?;
        self::migrations::migrate(&mut db, path, migrations, older)?;
        drop(migration_lock);

        // If a step below fails, the queues are dropped before the threads, so that the threads end.
        let (mut writer_thread, mut reader_threads) = (Threads::new(), Threads::new());
        let remote_changes = Signal::new();
        let (writer, writes) = JobQueue::new(WRITES_QUEUED_MAX);
        let signal = remote_changes.clone();
        let file = path.to_owned();
        writer_thread.spawn("sqlite-writer", move || writer::run(&db, &writes, &signal, &file))?;

        let (readers, reads) = JobQueue::new(READS_QUEUED_MAX);
        start_readers(path, reads, &mut reader_threads)?;
        let integrity = Integrity::default();
        if check_later {
            integrity.check_in_background(path, &mut reader_threads)?;
        }
        Ok(Self(Arc::new(OpenDatabase {
            readers,
            _reader_threads: reader_threads,
            writer,
            _writer_thread: writer_thread,
            remote_changes,
            integrity,
            _folder: folder,
        })))
    }

    /// Runs `job` in a transaction and returns when the commit is on disk. If the job fails, its changes are rolled
    /// back.
    pub async fn write<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.0.writer.call(job, None).await
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
        self.0.writer.call(job, Some(Instant::now() + within)).await
    }

    /// Runs `job` on one snapshot of the database. The job must not write.
    pub async fn read<T, E>(&self, job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<EngineError> + Send + 'static,
    {
        self.0.readers.call(job, None).await
    }

    /// The version of the tables, and the size of the file and its write-ahead log.
    pub async fn figures(&self) -> Result<DatabaseFigures, EngineError> {
        self.read(|db| {
            // The size that the file has once the write-ahead log is copied into it.
            let select = "SELECT (SELECT max(version) FROM refinery_schema_history), page_count * page_size \
                 FROM pragma_page_count(), pragma_page_size()";
            let (schema_version, size_bytes) = db
                .prepare_cached(select)?
                .query_one((), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
            let wal = format!("{}-wal", db.path().unwrap_or_default());
            let wal_bytes = Some(std::fs::metadata(wal).map_or(0, |found| found.len()));
            Ok(DatabaseFigures { schema_version, size_bytes, wal_bytes })
        })
        .await
    }

    /// A signal that is set when another process has written to the file.
    pub fn remote_changes(&self) -> Signal {
        self.0.remote_changes.clone()
    }

    /// `Damaged` if the check in the background has found damage.
    pub fn check_intact(&self) -> Result<(), EngineError> {
        self.0.integrity.found()
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

/// A connection that can't write rows. It still needs write access to the files, because readers update the shared
/// index of the write-ahead log.
fn connect_reader(path: &Path) -> Result<Connection, EngineError> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.pragma_update(None, "query_only", "ON")?;
    Ok(db)
}

fn start_readers(path: &Path, jobs: Receiver<QueuedJob>, threads: &mut Threads) -> Result<(), EngineError> {
    let jobs = Arc::new(Mutex::new(jobs));
    for number in 1..=READERS {
        let db = connect_reader(path)?;
        let jobs = jobs.clone();
        threads.interrupt_at_end(&db);
        threads.spawn(&format!("sqlite-reader-{number}"), move || run_reader(&db, &jobs))?;
    }
    Ok(())
}

fn run_reader(db: &Connection, jobs: &Mutex<Receiver<QueuedJob>>) {
    loop {
        // One reader holds the lock and waits for a job; the other readers wait for the lock. So a job wakes one
        // reader.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(QueuedJob { mut job, .. }) = job else { return };
        if job.is_abandoned() {
            continue;
        }
        let begun = execute(db, "BEGIN");
        if begun.is_ok() {
            job.run(db);
        }
        let _ = execute(db, "ROLLBACK");
        job.answer(begun);
    }
}

fn execute(db: &Connection, sql: &str) -> Result<(), EngineError> {
    db.prepare_cached(sql)?.execute(())?;
    Ok(())
}

/// True when a column has another type than the reader expects.
pub fn is_decoding_error(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
    )
}

#[cfg(test)]
mod tests;
