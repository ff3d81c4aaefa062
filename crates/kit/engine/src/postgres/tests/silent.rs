//! A server that hangs: each caller gets an error in time, no commit is cancelled, and the pool recovers.

use std::sync::Mutex;
use std::time::Instant;

use testkit::postgres::{DedicatedServer, Settings};

use super::*;

/// The server ends a statement after this time.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum time that a caller waits: 6 s for a response or 10 s for a new connection, plus a margin for a busy machine.
const ANSWERED_WITHIN: Duration = Duration::from_secs(25);

async fn open_dedicated() -> (DedicatedServer, Postgres) {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    server.sql("CREATE DATABASE lots ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let config = PostgresConfig {
        url: server.url("lots"),
        pool_size: 2,
        statement_timeout: STATEMENT_TIMEOUT,
        ..Default::default()
    };
    (server, open(&config).await)
}

/// The text of the error of a read, on a connection of the pool or on a new connection.
async fn read_error(postgres: &Postgres) -> String {
    let read = async {
        let client = postgres.client().await?;
        client.prepare_cached("SELECT count(*) FROM lots").await.map(drop).map_err(EngineError::from)
    };
    read.await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_commit_that_is_not_answered_ends_in_time_and_is_not_cancelled() {
    let (server, postgres) = open_dedicated().await;
    let server = Mutex::new(server);
    let job: Job<Mutex<DedicatedServer>, (), SqlError> = |db, server| {
        Box::pin(async move {
            insert_lot(db).await?;
            server.lock().unwrap().freeze().unwrap();
            Ok(())
        })
    };
    let began = Instant::now();
    let outcome = postgres.transaction(&server, job).await;
    assert!(matches!(outcome, Err(SqlError::Engine(EngineError::Unanswered { seconds: 6 }))), "{outcome:?}");
    assert!(read_error(&postgres).await.contains("did not answer"));
    assert!(began.elapsed() < ANSWERED_WITHIN * 2, "{:?}", began.elapsed());

    server.lock().unwrap().thaw().unwrap();
    // The server has received the commit and executes it.
    let committed = async { while lots(&postgres).await == 0 {} };
    tokio::time::timeout(SOON, committed).await.expect("the commit takes effect");
    assert_eq!(lots(&postgres).await, 1);
}

#[tokio::test]
async fn a_statement_that_is_not_answered_ends_in_time_and_the_pool_recovers() {
    let (mut server, postgres) = open_dedicated().await;
    assert_eq!(lots(&postgres).await, 0);
    server.freeze().unwrap();
    let began = Instant::now();
    let (first, second) = tokio::join!(read_error(&postgres), read_error(&postgres));
    for error in [first, second] {
        assert!(error.contains("did not answer"), "{error}");
    }
    let failed = postgres.transaction(&(), |db, ()| Box::pin(insert_lot(db))).await;
    assert!(failed.is_err());
    assert!(began.elapsed() < ANSWERED_WITHIN * 2, "{:?}", began.elapsed());

    server.thaw().unwrap();
    let postgres = &postgres;
    let works = async { while postgres.transaction(&(), |db, ()| Box::pin(insert_lot(db))).await.is_err() {} };
    tokio::time::timeout(SOON, works).await.expect("writes succeed again");
    assert_eq!(lots(postgres).await, 1, "the rolled back write left nothing");
}
