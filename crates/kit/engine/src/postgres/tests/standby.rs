//! Synchronous replication: a commit that no standby has confirmed is not reported as successful.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use testkit::postgres::{DedicatedServer, Settings};

use super::*;

#[tokio::test]
async fn a_commit_whose_wait_for_a_standby_is_cancelled_fails() {
    let server = DedicatedServer::start(&Settings::default()).unwrap();
    server.sql("CREATE DATABASE lots ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let config = PostgresConfig { url: server.url("lots"), pool_size: 2, ..Default::default() };
    let postgres = open(&config).await;
    server.sql("ALTER SYSTEM SET synchronous_standby_names = 'absent'; SELECT pg_reload_conf()").unwrap();

    let is_over = Arc::new(AtomicBool::new(false));
    let cancelling = tokio::task::spawn_blocking({
        let is_over = is_over.clone();
        move || {
            let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            while !is_over.load(Ordering::Acquire) {
                server.sql(cancel).unwrap();
            }
            server
        }
    });
    let insert = postgres.transaction(&(), |db, ()| Box::pin(insert_lot(db)));
    let outcome = tokio::time::timeout(SOON, insert).await;
    is_over.store(true, Ordering::Release);
    let server = cancelling.await.unwrap();
    let outcome = outcome.expect("the wait of the commit is cancelled");
    assert!(matches!(outcome, Err(SqlError::Engine(_))), "{outcome:?}");
    // The change is visible here, and would be gone after a failover.
    server.sql("ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()").unwrap();
    assert_eq!(lots(&postgres).await, 1);
}
