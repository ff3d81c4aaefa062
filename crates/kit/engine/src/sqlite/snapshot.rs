//! Copies of database files that other processes are using, all as they were at one moment.
//!
//! [`Snapshots::open`] takes the write locks of all files, opens a read transaction on each, and releases the locks: writers
//! wait for milliseconds. A read transaction sees the file as it was when the transaction began, however long copying takes.
//! Meanwhile the write-ahead log grows, because SQLite can't copy newer changes into the file that is read.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{connect, connect_reader, execute};
use crate::EngineError;

/// Pages that are copied between two reports of progress.
const PAGES_PER_STEP: i32 = 2_048;

/// Read transactions of several files, begun at one moment.
pub struct Snapshots {
    files: Vec<(PathBuf, Connection)>,
    /// The time in which no other process could write.
    pub locked_for: Duration,
}

/// How much of a file is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Pages copied so far.
    pub pages: u64,
    /// Pages of the file.
    pub of_pages: u64,
}

impl Snapshots {
    /// Opens a snapshot of each file at one moment. The files exist and use a write-ahead log, as [`super::Database`] makes them.
    ///
    /// Errors: `Sqlite`, also when another process holds a write lock for more than ten seconds.
    pub fn open(paths: &[&Path]) -> Result<Self, EngineError> {
        let mut locks = Vec::new();
        let mut files = Vec::new();
        for path in paths {
            locks.push(connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?);
            files.push(((*path).to_owned(), connect_reader(path)?));
        }
        let mut began = None;
        for lock in &locks {
            execute(lock, "BEGIN IMMEDIATE")?;
            began.get_or_insert_with(Instant::now);
        }
        for (_, reader) in &files {
            execute(reader, "BEGIN")?;
            // The transaction begins with its first read.
            reader.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
        }
        for lock in &locks {
            execute(lock, "ROLLBACK")?;
        }
        Ok(Self { files, locked_for: began.map_or(Duration::ZERO, |began| began.elapsed()) })
    }

    /// Copies the snapshot of the file at `path` to a new file, and waits until the copy is on disk.
    ///
    /// Errors: `Sqlite`, and `Unsupported` when the file can't be written.
    pub fn copy(&self, path: &Path, to: &Path, progress: impl FnMut(Copied)) -> Result<(), EngineError> {
        self.copy_pages(path, to, progress).map_err(|error| match error {
            // The disk of the copy, not the one of the database.
            EngineError::DiskFull(_) => {
                EngineError::Unsupported(format!("there is no room for {}: make room on its disk", to.display()))
            }
            error => error,
        })
    }

    fn copy_pages(&self, path: &Path, to: &Path, mut progress: impl FnMut(Copied)) -> Result<(), EngineError> {
        let Some((_, source)) = self.files.iter().find(|(file, _)| file == path) else {
            return Err(EngineError::Unsupported(format!("{} has no snapshot", path.display())));
        };
        let writing =
            |error: std::io::Error| EngineError::Unsupported(format!("writing {} failed: {error}", to.display()));
        // Only its owner can read the copy.
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(writing)?;
        let mut copy = connect(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // The pages are written once and synchronised at the end.
        copy.pragma_update(None, "synchronous", "OFF")?;
        let backup = Backup::new(source, &mut copy)?;
        loop {
            let step = backup.step(PAGES_PER_STEP)?;
            let left = backup.progress();
            let pages = |count: i32| u64::try_from(count).unwrap_or_default();
            progress(Copied { pages: pages(left.pagecount - left.remaining), of_pages: pages(left.pagecount) });
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                // No other process opens the copy, and the snapshot needs no lock, so the step is not expected to wait.
                _ => std::thread::yield_now(),
            }
        }
        drop(backup);
        copy.close().map_err(|(_, error)| error)?;
        std::fs::File::open(to).and_then(|file| file.sync_all()).map_err(writing)
    }
}

/// Moves the content of a file's write-ahead log into the file and removes the log, so that the file can be moved. False while
/// another connection is open, also one of this process that is being closed.
pub fn complete_file(path: &Path) -> Result<bool, EngineError> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    match db.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get::<_, String>(0)) {
        Ok(mode) => Ok(mode == "delete"),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn file(path: &Path) -> Connection {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.execute_batch("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)").unwrap();
        db
    }

    fn insert(db: &Connection, rows: usize) {
        for _ in 0..rows {
            db.execute("INSERT INTO rows (text) VALUES (hex(randomblob(500)))", ()).unwrap();
        }
    }

    fn count(db: &Connection) -> i64 {
        db.query_row("SELECT count(*) FROM rows", (), |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_copies_have_what_the_files_had_when_the_snapshots_were_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first.db", "second.db"].map(|name| folder.path().join(name));
        let (one, two) = (file(&first), file(&second));
        insert(&one, 3_000);
        insert(&two, 5);
        let snapshots = Snapshots::open(&[&first, &second]).unwrap();
        insert(&one, 10);
        insert(&two, 10);
        let mut steps = Vec::new();
        for (path, name) in [(&first, "1"), (&second, "2")] {
            snapshots.copy(path, &folder.path().join(name), |copied| steps.push(copied)).unwrap();
            // A commit while the file is copied changes nothing of the copy.
            insert(&one, 1);
        }
        let rows = |name: &str| count(&Connection::open(folder.path().join(name)).unwrap());
        assert_eq!([rows("1"), rows("2")], [3_000, 5]);
        assert_eq!([count(&one), count(&two)], [3_012, 15]);
        assert!(steps.iter().all(|step| step.pages <= step.of_pages) && steps[0].of_pages > 300, "{steps:?}");
        assert_eq!(steps.last().map(|step| step.of_pages - step.pages), Some(0));
    }

    #[test]
    fn other_processes_write_again_after_the_snapshots_are_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("only.db");
        let db = file(&path);
        let snapshots = Snapshots::open(&[&path]).unwrap();
        db.busy_timeout(Duration::ZERO).unwrap();
        insert(&db, 1);
        drop(snapshots);
        assert_eq!(count(&db), 1);
    }

    #[test]
    fn a_file_is_complete_without_its_log_after_its_other_connections_are_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("only.db");
        let db = file(&path);
        insert(&db, 1);
        assert!(!complete_file(&path).unwrap());
        drop(db);
        assert!(complete_file(&path).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(count(&Connection::open(&path).unwrap()), 1);
    }

    #[test]
    fn an_existing_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("only.db");
        let db = file(&path);
        insert(&db, 1);
        let snapshots = Snapshots::open(&[&path]).unwrap();
        assert!(snapshots.copy(&path, &path, |_| ()).is_err());
        assert_eq!(count(&db), 1);
    }
}
