//! Returns pages that the file no longer needs to the file system, in small steps.
//!
//! Deleted rows leave free pages, which the rows of the next minutes use again. Only pages that were free throughout a
//! whole [`WINDOW`] are returned, so that a file whose rows come and go at the same rate keeps its pages.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::EngineError;

/// How long pages must have been free.
const WINDOW: Duration = Duration::from_secs(10 * 60);
/// How often the free pages are counted.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
/// Pages returned in one transaction: 256 KiB, so that other commits wait a few milliseconds at most.
const STEP_PAGES: i64 = 64;
/// Free pages that are kept: 16 MiB.
const KEPT_PAGES: i64 = 4_096;

/// The free pages of a file.
pub(super) struct FreePages {
    window_began: Instant,
    counted_at: Instant,
    /// The lowest number of free pages in this window.
    lowest: i64,
    /// Pages to return.
    unneeded: i64,
}

impl FreePages {
    pub(super) fn new(now: Instant) -> Self {
        Self { window_began: now, counted_at: now, lowest: i64::MAX, unneeded: 0 }
    }

    /// Counts the free pages if it is time, and returns one step of unneeded pages. The writer calls it between two
    /// transactions, at most ten times a second.
    pub(super) fn run(&mut self, db: &Connection, now: Instant) -> Result<(), EngineError> {
        if self.unneeded > 0 {
            return self.return_step(db, now);
        }
        if now.saturating_duration_since(self.counted_at) < COUNT_INTERVAL {
            return Ok(());
        }
        self.counted_at = now;
        self.lowest = self.lowest.min(count(db)?);
        if now.saturating_duration_since(self.window_began) >= WINDOW {
            self.unneeded = self.lowest.saturating_sub(KEPT_PAGES).max(0);
            self.begin_window(now);
        }
        Ok(())
    }

    fn return_step(&mut self, db: &Connection, now: Instant) -> Result<(), EngineError> {
        let before = count(db)?;
        let step = self.unneeded.min(STEP_PAGES);
        // The statement has a row for each returned page.
        let mut step = db.prepare(&format!("PRAGMA incremental_vacuum({step})"))?;
        let mut pages = step.query(())?;
        while pages.next()?.is_some() {}
        let returned = before.saturating_sub(count(db)?);
        // The file was created without a map of its pages, or new rows have used them.
        self.unneeded = if returned <= 0 { 0 } else { self.unneeded.saturating_sub(returned) };
        self.begin_window(now);
        Ok(())
    }

    fn begin_window(&mut self, now: Instant) {
        self.window_began = now;
        self.lowest = i64::MAX;
    }
}

fn count(db: &Connection) -> Result<i64, EngineError> {
    Ok(db.prepare_cached("PRAGMA freelist_count")?.query_row((), |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(path: &std::path::Path, auto_vacuum: &str) -> Connection {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "auto_vacuum", auto_vacuum).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.pragma_update(None, "synchronous", "OFF").unwrap();
        db.execute_batch("CREATE TABLE rows (no INTEGER PRIMARY KEY, content BLOB)").unwrap();
        db
    }

    fn insert(db: &Connection, rows: i64) {
        db.execute_batch("BEGIN").unwrap();
        for _ in 0..rows {
            db.prepare_cached("INSERT INTO rows (content) VALUES (zeroblob(3000))").unwrap().execute(()).unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
    }

    fn delete_oldest(db: &Connection, rows: i64) {
        db.execute("DELETE FROM rows WHERE no IN (SELECT no FROM rows ORDER BY no LIMIT ?1)", [rows]).unwrap();
    }

    fn pages(db: &Connection) -> i64 {
        db.query_row("PRAGMA page_count", (), |row| row.get(0)).unwrap()
    }

    /// Runs as the writer does for two windows.
    fn two_windows(free: &mut FreePages, db: &Connection, now: &mut Instant) {
        let end = *now + 2 * WINDOW;
        while *now < end {
            *now += COUNT_INTERVAL;
            free.run(db, *now).unwrap();
        }
    }

    #[test]
    fn pages_that_stay_free_return_to_the_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let db = database(&path, "INCREMENTAL");
        let mut now = Instant::now();
        let mut free = FreePages::new(now);
        let rows = KEPT_PAGES + 3 * STEP_PAGES;
        insert(&db, rows + 100);
        let full = pages(&db);
        delete_oldest(&db, rows);
        free.run(&db, now + COUNT_INTERVAL).unwrap();
        assert_eq!(pages(&db), full, "pages were returned before they were free for a window");
        two_windows(&mut free, &db, &mut now);
        assert_eq!(count(&db).unwrap(), KEPT_PAGES);
        let left: i64 = db.query_row("SELECT count(*) FROM rows", (), |row| row.get(0)).unwrap();
        assert_eq!(left, 100);
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, i64>(0)).unwrap();
        let bytes = i64::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
        assert_eq!(bytes, pages(&db) * 4_096);
        assert!(pages(&db) < full - 2 * STEP_PAGES, "{} of {full} pages", pages(&db));
        let intact: String = db.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
        assert_eq!(intact, "ok");
    }

    #[test]
    fn a_file_whose_rows_come_and_go_keeps_its_pages() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(&folder.path().join("a.db"), "INCREMENTAL");
        let mut now = Instant::now();
        let mut free = FreePages::new(now);
        let rows = KEPT_PAGES + STEP_PAGES;
        insert(&db, 2 * rows);
        let full = pages(&db);
        for _ in 0..6 {
            delete_oldest(&db, rows);
            now += WINDOW / 2;
            free.run(&db, now).unwrap();
            insert(&db, rows);
            now += COUNT_INTERVAL;
            free.run(&db, now).unwrap();
        }
        let kept = pages(&db);
        assert!((full - 4 * STEP_PAGES..=full + 4 * STEP_PAGES).contains(&kept), "{kept} pages, {full} before");
    }

    #[test]
    fn a_file_without_a_map_of_its_pages_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let db = database(&folder.path().join("a.db"), "NONE");
        let mut now = Instant::now();
        let mut free = FreePages::new(now);
        let rows = KEPT_PAGES + STEP_PAGES;
        insert(&db, rows);
        let full = pages(&db);
        delete_oldest(&db, rows);
        two_windows(&mut free, &db, &mut now);
        assert_eq!((pages(&db), free.unneeded), (full, 0));
    }
}
