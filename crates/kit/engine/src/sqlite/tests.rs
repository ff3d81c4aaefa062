//! The guarantees of a database: failing jobs, panics, many callers, deferred writes, other processes, and its end.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::*;

pub(super) fn open(path: &Path) -> Database {
    let numbers = "CREATE TABLE numbers (number INTEGER PRIMARY KEY)";
    let migrations = Runner::new(&[refinery::Migration::unapplied("V1__numbers", numbers).unwrap()]);
    Database::open(path, &migrations, OlderTables::Upgrade).unwrap()
}

pub(super) fn insert(number: i64) -> impl FnOnce(&Connection) -> Result<(), EngineError> + Send {
    move |db| Ok(db.execute("INSERT INTO numbers VALUES (?1)", [number]).map(drop)?)
}

async fn count(db: &Database) -> i64 {
    let count =
        |db: &Connection| Ok::<_, EngineError>(db.query_row("SELECT count(*) FROM numbers", (), |row| row.get(0))?);
    db.read(count).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_job_is_rolled_back_alone() {
    let dir = tempfile::tempdir().unwrap();
    let db = Arc::new(open(&dir.path().join("a.db")));
    let jobs: Vec<_> = (0..200)
        .map(|number| {
            let db = db.clone();
            tokio::spawn(async move {
                db.write(move |connection| {
                    insert(number)(connection)?;
                    if number % 3 == 0 { Err(EngineError::Closed) } else { Ok(()) }
                })
                .await
            })
        })
        .collect();
    for (number, job) in (0..).zip(jobs) {
        assert_eq!(job.await.unwrap().is_err(), number % 3 == 0, "{number}");
    }
    assert_eq!(count(&db).await, 133);
}

#[tokio::test]
async fn a_panicking_job_fails_only_its_caller() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir.path().join("a.db"));
    let panicked = db.write(|_| -> Result<(), EngineError> { panic!("on purpose") }).await;
    assert!(matches!(panicked, Err(EngineError::Panicked(text)) if text == "on purpose"));
    db.write(insert(1)).await.unwrap();
    assert_eq!(count(&db).await, 1);
}

#[tokio::test]
async fn readers_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir.path().join("a.db"));
    assert!(db.read(insert(1)).await.is_err());
    assert_eq!(count(&db).await, 0);
}

#[tokio::test]
async fn a_committed_write_exists_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    open(&path).write(insert(7)).await.unwrap();
    assert_eq!(count(&open(&path)).await, 1);
}

#[tokio::test]
async fn a_commit_of_another_connection_is_signalled_and_an_own_commit_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    let other_database = open(&path);
    // Opening the second database may have written to the file.
    let _ = tokio::time::timeout(POLL_INTERVAL * 3, database.remote_changes().wait()).await;
    database.write(insert(1)).await.unwrap();
    let own = tokio::time::timeout(POLL_INTERVAL * 3, database.remote_changes().wait()).await;
    assert!(own.is_err());
    other_database.write(insert(2)).await.unwrap();
    tokio::time::timeout(BUSY_TIMEOUT, database.remote_changes().wait()).await.unwrap();
}

#[tokio::test]
async fn the_job_of_a_dropped_caller_frees_its_queue_slot_when_it_has_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let db = open(&path);
    // Another connection blocks the writer, so that jobs stay in the queue after their callers were dropped.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let left = i64::try_from(WRITES_QUEUED_MAX).unwrap() * 2;
    for number in 0..left {
        tokio::select! {
            biased;
            _ = db.write(insert(number)) => {}
            () = std::future::ready(()) => {}
        }
    }
    let stays = tokio::spawn({
        let db = db.clone();
        async move { db.write(insert(left)).await }
    });
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").unwrap();
    stays.await.unwrap().unwrap();
}

const LONG: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn a_deferred_write_joins_the_next_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir.path().join("a.db"));
    let mut held = std::pin::pin!(db.write_within(LONG, insert(1)));
    assert!(tokio::time::timeout(POLL_INTERVAL * 2, &mut held).await.is_err());
    assert_eq!(count(&db).await, 0);
    db.write(insert(2)).await.unwrap();
    held.await.unwrap();
    assert_eq!(count(&db).await, 2);
}

#[tokio::test]
async fn a_deferred_write_commits_at_its_deadline() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir.path().join("a.db"));
    let (long, short) =
        tokio::join!(db.write_within(LONG, insert(1)), db.write_within(Duration::from_millis(30), insert(2)));
    long.and(short).unwrap();
    assert_eq!(count(&db).await, 2);
}

#[tokio::test]
async fn deferred_writes_commit_when_the_database_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let db = open(&path);
    let waits = tokio::spawn({
        let db = db.clone();
        async move { db.write_within(LONG, insert(1)).await }
    });
    tokio::task::yield_now().await;
    drop(db);
    // The task owns a clone of the database until it is aborted.
    waits.abort();
    let _ = waits.await;
    assert_eq!(count(&open(&path)).await, 1);
}

/// The rows in a copy of the main file alone.
fn rows_in_copy_of_main_file(path: &Path) -> i64 {
    let copy = path.with_extension("copy");
    std::fs::copy(path, &copy).unwrap();
    let db = Connection::open(&copy).unwrap();
    db.query_row("SELECT count(*) FROM numbers", (), |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_closed_database_is_complete_in_its_main_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let db = open(&path);
    db.write(|db| (0..100).try_for_each(|number| insert(number)(db))).await.unwrap();
    drop(db);
    assert_eq!(rows_in_copy_of_main_file(&path), 100);
    assert!(!dir.path().join("a.db-wal").exists());
}

#[tokio::test]
async fn a_closed_database_is_complete_in_its_main_file_although_another_process_keeps_it_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let db = open(&path);
    let other = Connection::open(&path).unwrap();
    db.write(|db| (0..100).try_for_each(|number| insert(number)(db))).await.unwrap();
    let seen: i64 = other.query_row("SELECT count(*) FROM numbers", (), |row| row.get(0)).unwrap();
    drop(db);
    assert_eq!(seen, 100);
    assert_eq!(rows_in_copy_of_main_file(&path), 100);
    assert_eq!(std::fs::metadata(dir.path().join("a.db-wal")).unwrap().len(), 0);
}

#[tokio::test]
async fn closing_interrupts_a_read_whose_caller_has_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let db = open(&path);
    db.write(insert(1)).await.unwrap();
    let (begun, has_begun) = oneshot::channel();
    let endless = db.read(move |connection| {
        let _ = begun.send(());
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        Ok::<i64, EngineError>(connection.query_row(sql, (), |row| row.get(0))?)
    });
    tokio::select! {
        biased;
        _ = endless => panic!("the read has no end"),
        begun = has_begun => begun.unwrap(),
    }
    drop(db);
    assert_eq!(rows_in_copy_of_main_file(&path), 1);
}
