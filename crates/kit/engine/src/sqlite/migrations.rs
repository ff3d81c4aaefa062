//! Creates and migrates the tables of a database file, one process at a time.
//!
//! Each database has a lock file, such as `platform.db.migrate`. A process holds the lock while it reads the version
//! and migrates. So a command that runs during the first start of a server finds complete tables. The kernel releases
//! the lock when the process ends, even if it is killed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use refinery::Runner;
use rusqlite::Connection;

use crate::{EngineError, foreign_tables};

/// Time to wait for the migrations of another process.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Pause between two attempts to get the lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes read from a lock file, which contains a process id.
const HOLDER_BYTES_MAX: u64 = 32;
/// The table of the migrations that a file has, as refinery names it.
pub(super) const HISTORY_TABLE: &str = "refinery_schema_history";
/// Suffix of the lock file.
const SUFFIX: &str = ".migrate";

/// Who opens a database.
#[derive(Debug, Clone, Copy)]
pub enum OpenedBy<'a> {
    /// The server. It migrates existing tables.
    Server,
    /// A command. It may create tables, but migrates existing tables only while no server holds the lock file, because
    /// a server of an older version can't use newer tables.
    Command {
        /// The lock file that a running server holds.
        server_lock: &'a Path,
    },
}

/// The migration lock of a database. It is released when this is dropped.
pub(super) struct MigrationLock(#[expect(dead_code, reason = "dropping the file releases the lock")] File);

impl MigrationLock {
    /// Waits for the lock of the database at `path`, at most [`WAIT_MAX`].
    pub(super) fn acquire(path: &Path) -> Result<Self, EngineError> {
        Self::acquire_within(path, WAIT_MAX)
    }

    fn acquire_within(path: &Path, wait_max: Duration) -> Result<Self, EngineError> {
        let path = lock_path(path);
        let failed = |source| EngineError::LockFile { path: path.display().to_string(), source: Arc::new(source) };
        let mut options = OpenOptions::new();
        // Mode 600, because any process that can open the file can acquire the lock.
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let mut file = options.open(&path).map_err(failed)?;
        let deadline = Instant::now() + wait_max;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => pause(),
                Err(TryLockError::WouldBlock) => {
                    return Err(EngineError::MigrationLocked { holder: holder(&file), seconds: wait_max.as_secs() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        // Other processes show this process id in their error message.
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self(file))
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

fn holder(file: &File) -> String {
    let mut text = String::new();
    let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut text);
    let process = text.trim();
    if process.is_empty() { String::new() } else { format!(" (process {process})") }
}

/// Blocks the thread. A process opens its databases before it starts other work.
fn pause() {
    let (_sender, nothing) = channel::<()>();
    let _ = nothing.recv_timeout(RETRY_INTERVAL);
}

/// Applies the missing migrations to the database at `path`. The caller holds the lock.
pub(super) fn migrate(
    db: &mut Connection,
    path: &Path,
    migrations: &Runner,
    opened_by: OpenedBy<'_>,
) -> Result<(), EngineError> {
    let needed = foreign_tables::latest_version(migrations);
    if let OpenedBy::Command { server_lock } = opened_by {
        match version(db, migrations)? {
            Some(found) if found < needed && is_locked(server_lock)? => {
                return Err(EngineError::ServerIsOlder { found, needed });
            }
            _ => {}
        }
    }
    migrations.run(db).map_err(|error| migration_error(&error, path, needed))?;
    Ok(())
}

fn migration_error(error: &refinery::Error, path: &Path, needed: i32) -> EngineError {
    let tables = format!("the tables of {}", path.display());
    let new_database = "move the file, and the files beside it with the suffixes -wal and -shm, to another directory";
    foreign_tables::refusal(error, needed, &tables, new_database)
        .unwrap_or_else(|| EngineError::Migration(error.to_string()))
}

/// The version of the tables; none for a new database.
fn version(db: &mut Connection, migrations: &Runner) -> Result<Option<i32>, EngineError> {
    if !db.table_exists(None, HISTORY_TABLE)? {
        return Ok(None);
    }
    let last = migrations.get_last_applied_migration(db);
    let last = last.map_err(|error| EngineError::Migration(error.to_string()))?;
    Ok(last.map(|migration| migration.version()))
}

/// Whether another process holds the lock. It tries to acquire a shared lock, which it releases immediately.
fn is_locked(path: &Path) -> Result<bool, EngineError> {
    let failed =
        |source: std::io::Error| EngineError::LockFile { path: path.display().to_string(), source: Arc::new(source) };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use refinery::Migration;

    use super::super::Database;
    use super::*;

    fn migrations(count: usize) -> Runner {
        let all = [("V1__lots", "CREATE TABLE lots (number INTEGER)"), ("V2__bids", "CREATE TABLE bids (lot INTEGER)")];
        let all: Vec<_> = all[..count].iter().map(|(name, sql)| Migration::unapplied(name, sql).unwrap()).collect();
        Runner::new(&all)
    }

    #[test]
    fn many_processes_can_open_a_new_database_at_the_same_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        // The lock belongs to the open file, so it excludes threads as well as processes.
        std::thread::scope(|scope| {
            let openings: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Database::open(&path, &migrations(2), OpenedBy::Server))).collect();
            for opening in openings {
                opening.join().unwrap().unwrap();
            }
        });
        let mode = std::fs::metadata(lock_path(&path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
    }

    #[test]
    fn a_command_creates_a_database_and_migrates_it_only_while_no_server_runs() {
        let dir = tempfile::tempdir().unwrap();
        let (path, server_lock) = (dir.path().join("a.db"), dir.path().join("a.lock"));
        let command = OpenedBy::Command { server_lock: &server_lock };
        let server = File::create(&server_lock).unwrap();
        server.lock().unwrap();
        drop(Database::open(&path, &migrations(1), command).unwrap());
        let refused = Database::open(&path, &migrations(2), command).err().unwrap();
        assert!(matches!(refused, EngineError::ServerIsOlder { found: 1, needed: 2 }), "{refused}");
        assert!(refused.to_string().ends_with("Restart the server with this version first."), "{refused}");
        drop(Database::open(&path, &migrations(1), command).unwrap());
        drop(server);
        drop(Database::open(&path, &migrations(2), command).unwrap());
        let newer = Database::open(&path, &migrations(1), OpenedBy::Server).err().unwrap();
        assert!(matches!(newer, EngineError::Unsupported(_)), "{newer}");
        assert!(newer.to_string().contains("have version 2, and this lotwire knows versions up to 1"), "{newer}");
    }

    #[test]
    fn a_database_of_an_earlier_build_is_refused_and_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        drop(Database::open(&path, &migrations(2), OpenedBy::Server).unwrap());
        let squashed = Migration::unapplied("V1__lots", "CREATE TABLE lots (number INTEGER, bids INTEGER)").unwrap();
        let server_lock = dir.path().join("a.lock");
        for opened_by in [OpenedBy::Server, OpenedBy::Command { server_lock: &server_lock }] {
            let refused =
                Database::open(&path, &Runner::new(std::slice::from_ref(&squashed)), opened_by).err().unwrap();
            assert!(matches!(refused, EngineError::Unsupported(_)), "{refused}");
            let refused = refused.to_string();
            assert!(
                refused.contains(&format!("the tables of {} were created by an earlier", path.display())),
                "{refused}"
            );
            assert!(refused.contains("start with a new database: move the file"), "{refused}");
        }
        drop(Database::open(&path, &migrations(2), OpenedBy::Server).unwrap());
    }

    #[test]
    fn a_process_that_gets_no_lock_says_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let held = MigrationLock::acquire(&path).unwrap();
        let refused = MigrationLock::acquire_within(&path, Duration::ZERO).err().unwrap().to_string();
        assert!(refused.contains(&format!("(process {})", std::process::id())), "{refused}");
        drop(held);
        MigrationLock::acquire_within(&path, Duration::ZERO).unwrap();
    }
}
