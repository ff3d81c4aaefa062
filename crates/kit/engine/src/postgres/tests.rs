//! Tests on a real server: migrations, transactions with retries, notifications.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use refinery::{Migration, Runner};

use super::*;
use crate::OlderTables;

mod rough;
mod silent;
mod standby;
mod tls;

/// Maximum time to wait for an event that is already due, on a busy machine.
const SOON: Duration = Duration::from_secs(20);

#[derive(Debug)]
enum SqlError {
    Rejected,
    Engine(EngineError),
    Statement(tokio_postgres::Error),
}

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> Self {
        SqlError::Engine(error)
    }
}

impl From<StatementError> for SqlError {
    fn from(error: StatementError) -> Self {
        match error {
            StatementError::Statement(error) => SqlError::Statement(error),
            StatementError::Engine(error) => SqlError::Engine(error),
        }
    }
}

impl HasStatementError for SqlError {
    fn statement_error(&self) -> Option<&tokio_postgres::Error> {
        if let SqlError::Statement(error) = self { Some(error) } else { None }
    }
}

async fn database() -> PostgresConfig {
    PostgresConfig { url: testkit::postgres::fresh_database().await.unwrap(), pool_size: 4, ..Default::default() }
}

fn migrations() -> Runner {
    Runner::new(&[Migration::unapplied("V1__lots", "CREATE TABLE lots (number integer PRIMARY KEY)").unwrap()])
}

async fn open(config: &PostgresConfig) -> Postgres {
    Postgres::open(config, "first", migrations()).await.unwrap()
}

async fn lots(postgres: &Postgres) -> i64 {
    let client = postgres.client().await.unwrap();
    client.statements().unwrap().query_one("SELECT count(*) FROM lots", &[]).await.unwrap().get(0)
}

/// Whether the signal has a notification.
async fn is_notified(signal: &Signal) -> bool {
    tokio::select! {
        biased;
        () = signal.wait() => true,
        () = std::future::ready(()) => false,
    }
}

#[tokio::test]
async fn many_processes_can_open_a_new_database_concurrently() {
    let config = database().await;
    let (a, b, c, other) =
        tokio::join!(open(&config), open(&config), open(&config), Postgres::open(&config, "second", migrations()));
    execute_batch(&a.client().await.unwrap(), "INSERT INTO lots VALUES (1)").await.unwrap();
    assert_eq!((lots(&b).await, lots(&c).await), (1, 1));
    assert_eq!(lots(&other.unwrap()).await, 0, "a schema has tables of its own");
}

#[tokio::test]
async fn a_commit_waits_for_the_disk() {
    let postgres = open(&database().await).await;
    let client = postgres.client().await.unwrap();
    let shown = client.statements().unwrap().query_one("SHOW synchronous_commit", &[]).await.unwrap();
    let setting: String = shown.get(0);
    assert_eq!(setting, "on");
}

#[tokio::test]
async fn a_failed_job_is_rolled_back() {
    let postgres = open(&database().await).await;
    let outcome = postgres.transaction(&(), |db, ()| {
        Box::pin(async move {
            insert_lot(db).await?;
            Err::<(), _>(SqlError::Rejected)
        })
    });
    assert!(matches!(outcome.await, Err(SqlError::Rejected)));
    assert_eq!(lots(&postgres).await, 0);
}

async fn insert_lot(db: &Transaction<'_>) -> Result<(), SqlError> {
    run(db, "INSERT INTO lots VALUES (1)").await
}

/// Runs statements in a transaction.
async fn run(db: &Transaction<'_>, sql: &str) -> Result<(), SqlError> {
    let connection = db.statements().map_err(SqlError::Engine)?;
    db.answered(connection.batch_execute(sql)).await.map_err(SqlError::from)
}

/// Writes a lot and then fails with a serialization failure, in the first `failures` calls. `tries` counts the calls.
async fn write_and_conflict(db: &Transaction<'_>, failures: usize, tries: &AtomicUsize) -> Result<(), SqlError> {
    insert_lot(db).await?;
    if tries.fetch_add(1, Ordering::Relaxed) < failures {
        let conflict = "DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = 'serialization_failure'; END $$";
        run(db, conflict).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_job_is_retried_after_a_serialization_failure_a_limited_number_of_times() {
    let postgres = open(&database().await).await;
    let job: Job<(usize, AtomicUsize), (), SqlError> =
        |db, (failures, tries)| Box::pin(write_and_conflict(db, *failures, tries));
    let always = (usize::MAX, AtomicUsize::new(0));
    assert!(matches!(postgres.transaction(&always, job).await, Err(SqlError::Statement(_))));
    assert_eq!(always.1.into_inner(), TRIES_MAX);
    assert_eq!(lots(&postgres).await, 0);
    let twice = (2, AtomicUsize::new(0));
    postgres.transaction(&twice, job).await.unwrap();
    assert_eq!(twice.1.into_inner(), 3);
    assert_eq!(lots(&postgres).await, 1);
}

#[tokio::test]
async fn a_notification_reaches_other_processes_and_not_its_sender() {
    let config = database().await;
    let (sender, receiver) = (open(&config).await, open(&config).await);
    let elsewhere = Postgres::open(&config, "second", migrations()).await.unwrap();
    sender.notify().await;
    tokio::time::timeout(SOON, receiver.remote_changes().wait()).await.expect("the other process is notified");
    assert!(!is_notified(&sender.remote_changes()).await);
    assert!(!is_notified(&elsewhere.remote_changes()).await);
}

#[tokio::test]
async fn a_broken_listener_reconnects_and_signals_a_change() {
    let config = database().await;
    let (sender, receiver) = (open(&config).await, open(&config).await);
    let changed = receiver.remote_changes();
    let break_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    execute_batch(&sender.client().await.unwrap(), break_all).await.unwrap();
    tokio::time::timeout(SOON, changed.wait()).await.expect("a reconnect may have missed notifications");
    sender.notify().await;
    tokio::time::timeout(SOON, changed.wait()).await.expect("the listener receives again");
}

#[tokio::test]
async fn the_error_for_an_unreachable_server_names_the_reason() {
    let config = PostgresConfig { url: "postgres://127.0.0.1:1/lots".to_owned(), pool_size: 1, ..Default::default() };
    let error = Postgres::open(&config, "first", migrations()).await.map(drop).unwrap_err().to_string();
    assert!(error.contains("refused"), "{error}");
}
