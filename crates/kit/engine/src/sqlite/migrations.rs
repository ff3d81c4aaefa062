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
use rusqlite::{Connection, OptionalExtension as _};

use crate::EngineError;
use crate::table_versions::{self, COMPATIBILITY_TABLE, FoundTables, HISTORY_TABLE, OlderTables, Step, TableVersions};

/// Time to wait for the migrations of another process.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Pause between two attempts to get the lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes read from a lock file, which contains a process id.
const HOLDER_BYTES_MAX: u64 = 32;
/// Suffix of the lock file.
const SUFFIX: &str = ".migrate";

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
    older: OlderTables,
) -> Result<(), EngineError> {
    let tables = format!("the tables of {}", path.display());
    let found = found_tables(db, migrations)?;
    if table_versions::step(&found, migrations, older, &tables)? == Step::UseNewer {
        return Ok(());
    }
    let new_database = "move the file, and the files beside it with the suffixes -wal and -shm, to another directory";
    migrations.run(db).map(drop).map_err(|error| {
        let refused = table_versions::refusal(&error, &tables, new_database);
        refused.unwrap_or_else(|| EngineError::Migration(error.to_string()))
    })
}

/// None in a new database.
fn found_tables(db: &mut Connection, migrations: &Runner) -> Result<FoundTables, EngineError> {
    let applied = if db.table_exists(None, HISTORY_TABLE)? {
        migrations.get_applied_migrations(db).map_err(|error| EngineError::Migration(error.to_string()))?
    } else {
        Vec::new()
    };
    let compatible_from = if db.table_exists(None, COMPATIBILITY_TABLE)? {
        let select = format!("SELECT compatible_from FROM {COMPATIBILITY_TABLE}");
        db.query_row(&select, (), |row| row.get(0)).optional()?
    } else {
        None
    };
    Ok(FoundTables { applied, compatible_from })
}

/// The version of the tables of the file at `path`; none without tables. The file is not changed.
///
/// Errors: `Sqlite` if the file can't be read.
pub fn table_versions(path: &Path, migrations: &Runner) -> Result<Option<TableVersions>, EngineError> {
    if !path.exists() {
        return Ok(None);
    }
    let applied = found_tables(&mut super::connect_reader(path)?, migrations)?.applied;
    let (found, known) = (table_versions::version_of(&applied), table_versions::latest_version(migrations));
    Ok((!applied.is_empty()).then_some(TableVersions { found, known }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use refinery::Migration;

    use super::super::Database;
    use super::*;

    const LOTS: (&str, &str) = ("V1__lots", "CREATE TABLE lots (number INTEGER)");
    const BIDS: (&str, &str) = ("V2__bids", "CREATE TABLE bids (lot INTEGER)");

    fn migrations(count: usize) -> Runner {
        runner(&[LOTS, BIDS][..count])
    }

    fn runner(all: &[(&str, &str)]) -> Runner {
        let all: Vec<_> = all.iter().map(|(name, sql)| Migration::unapplied(name, sql).unwrap()).collect();
        Runner::new(&all)
    }

    fn open(path: &Path, migrations: &Runner, older: OlderTables) -> Result<(), EngineError> {
        Database::open(path, migrations, older).map(drop)
    }

    #[test]
    fn many_processes_can_open_a_new_database_at_the_same_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        // The lock belongs to the open file, so it excludes threads as well as processes.
        std::thread::scope(|scope| {
            let openings: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Database::open(&path, &migrations(2), OlderTables::Upgrade))).collect();
            for opening in openings {
                opening.join().unwrap().unwrap();
            }
        });
        let mode = std::fs::metadata(lock_path(&path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
    }

    #[test]
    fn a_command_creates_a_database_and_leaves_its_upgrade_to_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let versions = |count| {
            let found = super::table_versions(&path, &migrations(count)).unwrap();
            found.map(|versions| (versions.found, versions.is_older()))
        };
        assert_eq!(versions(2), None);
        open(&path, &migrations(1), OlderTables::Refuse).unwrap();
        let refused = open(&path, &migrations(2), OlderTables::Refuse).unwrap_err();
        assert!(matches!(refused, EngineError::TablesAreOlder { found: 1, needed: 2, .. }), "{refused}");
        assert!(refused.to_string().ends_with("start `lotwire serve` with this version first"), "{refused}");
        open(&path, &migrations(1), OlderTables::Refuse).unwrap();
        assert_eq!(versions(1), Some((1, false)));
        assert_eq!(versions(2), Some((1, true)));
        open(&path, &migrations(2), OlderTables::Upgrade).unwrap();
        open(&path, &migrations(2), OlderTables::Refuse).unwrap();
        assert_eq!(versions(2), Some((2, false)));
        assert_eq!(versions(1), Some((2, false)));
    }

    #[test]
    fn an_older_version_goes_on_with_newer_tables_as_far_as_they_are_compatible() {
        let compatibility = (
            "V1__lots",
            "CREATE TABLE schema_compatibility (compatible_from); INSERT INTO schema_compatibility VALUES (1)",
        );
        let contract = ("V3__fewer", "UPDATE schema_compatibility SET compatible_from = 2");
        let all = [compatibility, BIDS, contract];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        for older in [OlderTables::Upgrade, OlderTables::Refuse] {
            open(&path, &runner(&all[..2]), OlderTables::Upgrade).unwrap();
            open(&path, &runner(&all[..1]), older).unwrap();
        }
        open(&path, &runner(&all), OlderTables::Upgrade).unwrap();
        open(&path, &runner(&all[..2]), OlderTables::Upgrade).unwrap();
        let refused = open(&path, &runner(&all[..1]), OlderTables::Upgrade).unwrap_err();
        assert!(matches!(refused, EngineError::Unsupported(_)), "{refused}");
        let expected =
            "have version 3, which programs for version 2 or later can use, and this lotwire knows versions up to 1";
        assert!(refused.to_string().contains(expected), "{refused}");
        // Tables of another build are not taken for newer ones.
        let foreign = open(&path, &runner(&[LOTS, BIDS]), OlderTables::Upgrade).unwrap_err().to_string();
        assert!(foreign.contains("were created by an earlier or another build"), "{foreign}");
        // A database without the row is of a build before it existed.
        let path = dir.path().join("b.db");
        open(&path, &migrations(2), OlderTables::Upgrade).unwrap();
        let refused = open(&path, &migrations(1), OlderTables::Upgrade).unwrap_err().to_string();
        assert!(refused.contains("have version 2, which programs for version 2 or later can use"), "{refused}");
    }

    #[test]
    fn a_database_of_an_earlier_build_is_refused_and_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        open(&path, &migrations(2), OlderTables::Upgrade).unwrap();
        let squashed = Migration::unapplied("V1__lots", "CREATE TABLE lots (number INTEGER, bids INTEGER)").unwrap();
        for older in [OlderTables::Upgrade, OlderTables::Refuse] {
            let refused = open(&path, &Runner::new(std::slice::from_ref(&squashed)), older).unwrap_err();
            assert!(matches!(refused, EngineError::Unsupported(_)), "{refused}");
            let refused = refused.to_string();
            assert!(
                refused.contains(&format!("the tables of {} were created by an earlier", path.display())),
                "{refused}"
            );
            assert!(refused.contains("start with a new database: move the file"), "{refused}");
        }
        open(&path, &migrations(2), OlderTables::Upgrade).unwrap();
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
