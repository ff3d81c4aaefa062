//! Looks for damage in a database file with `PRAGMA quick_check`, which reads the whole file.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, ErrorCode};

use super::connect_reader;
use super::threads::Threads;
use crate::EngineError;

/// Files up to this size are checked before they are used. Checking a larger file would delay the start by seconds.
const CHECK_AT_OPEN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The result of the check in the background.
#[derive(Clone, Default)]
pub(super) struct Integrity(Arc<OnceLock<EngineError>>);

impl Integrity {
    /// `Damaged` if the check has found damage.
    pub(super) fn found(&self) -> Result<(), EngineError> {
        self.0.get().map_or(Ok(()), |damage| Err(damage.clone()))
    }

    /// Checks the file on a separate thread and logs damage. The check is interrupted when `threads` is dropped.
    pub(super) fn check_in_background(&self, path: &Path, threads: &mut Threads) -> Result<(), EngineError> {
        let db = connect_reader(path)?;
        threads.interrupt_at_end(&db);
        let integrity = self.clone();
        let path = path.to_owned();
        threads.spawn("sqlite-check", move || {
            if let Err(damage @ EngineError::Damaged(_)) = check(&db) {
                tracing::error!(path = %path.display(), error = %damage, "a check of the database found damage");
                let _ = integrity.0.set(damage);
            }
        })
    }
}

/// Checks the whole file at `path`, whatever its size. Other processes may use the file meanwhile.
///
/// Errors: `Damaged`, and `Sqlite` if the file can't be read.
pub fn check_file(path: &Path) -> Result<(), EngineError> {
    check(&connect_reader(path)?)
}

/// Checks a small file. True when the file is too large and was not checked.
pub(super) fn check_at_open(db: &Connection, path: &Path) -> Result<bool, EngineError> {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if bytes > CHECK_AT_OPEN_BYTES_MAX {
        return Ok(true);
    }
    check(db).map(|()| false)
}

fn check(db: &Connection) -> Result<(), EngineError> {
    // One problem is enough, because a damaged file is restored from a backup and not repaired.
    let finding: String = db.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    if finding == "ok" { Ok(()) } else { Err(EngineError::Damaged(finding)) }
}

/// True when the error code reports damage of the file.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::unix::fs::FileExt as _;
    use std::path::PathBuf;

    use refinery::Runner;
    use tempfile::TempDir;

    use super::super::Database;
    use super::super::tests::{insert, open};
    use super::*;
    use crate::OlderTables;

    /// A database file with an overwritten page in the middle.
    async fn damaged() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let db = open(&path);
        db.write(|db| (0..2_000).try_for_each(|number| insert(number)(db))).await.unwrap();
        drop(db);
        check_file(&path).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let pages = file.metadata().unwrap().len() / 4_096;
        file.write_all_at(&[0xa5; 4_096], pages / 2 * 4_096).unwrap();
        (dir, path)
    }

    #[tokio::test]
    async fn a_damaged_file_is_not_opened_and_the_error_says_what_to_do() {
        let (_dir, path) = damaged().await;
        let error = Database::open(&path, &Runner::new(&[]), OlderTables::Upgrade).err().unwrap();
        assert!(matches!(error, EngineError::Damaged(_)), "{error}");
        assert!(error.to_string().contains("restore it from a backup"), "{error}");
        assert!(matches!(check_file(&path), Err(EngineError::Damaged(_))));
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_reported_as_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        std::fs::write(&path, [7; 8_192]).unwrap();
        assert!(matches!(Database::open(&path, &Runner::new(&[]), OlderTables::Upgrade), Err(EngineError::Damaged(_))));
    }

    #[tokio::test]
    async fn the_check_in_the_background_reports_damage() {
        let (_dir, path) = damaged().await;
        let mut threads = Threads::new();
        let integrity = Integrity::default();
        integrity.check_in_background(&path, &mut threads).unwrap();
        let found = async {
            while integrity.found().is_ok() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(super::super::BUSY_TIMEOUT, found).await.unwrap();
        assert!(matches!(integrity.found(), Err(EngineError::Damaged(_))));
    }

    #[test]
    fn a_large_file_is_checked_after_it_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let db = Connection::open(&path).unwrap();
        assert!(!check_at_open(&db, &path).unwrap());
        OpenOptions::new().write(true).open(&path).unwrap().set_len(CHECK_AT_OPEN_BYTES_MAX + 1).unwrap();
        assert!(check_at_open(&db, &path).unwrap());
    }
}
