//! What a store on disk holds when it is opened again.

use provider_core::model::AttemptTrigger;
use provider_core::port::{Order, Resend, Store};

use super::given::*;
use super::tasks;

/// Leaves work in every state behind.
async fn leaves_work(store: &dyn Store, version: i64) {
    let mut first = sent(1, version, &[(1, Some(1)), (2, None)]);
    first.answer = Some(answer("k1", 1, at(5)));
    for result in store.accept(vec![first, sent(2, version, &[(1, Some(1))])], at(5)).await.unwrap() {
        result.unwrap();
    }
    store.record_attempts(vec![failed(attempt(1, 2, 1, at(6)), 1, 1_000)].into(), NO_DELAY).await.unwrap();
    let resend = Resend { application: id("app", 1), message: id("msg", 2), endpoint: id("ep", 2) };
    store.resend(resend, None).await.unwrap();
    tasks::leaves_one_half_done(store).await;
}

/// Everything that was there is there; a new node gets what the old one had once that is dead.
async fn finds_it(store: &dyn Store) {
    let mut expected = application(1);
    expected.version = 3;
    let (found, endpoints) = store.snapshot(&id("app", 1)).await.unwrap().unwrap();
    assert_eq!(found, expected);
    assert_eq!(endpoints.len(), 2);
    assert_eq!(endpoints[0].failing_since, Some(at(6)));
    assert_eq!(endpoints[1], endpoint(2));
    assert_eq!(store.idempotent_answer(&id("org", 1), "k1").await.unwrap(), Some(answer("k1", 1, at(5))));
    let messages = messages(store, &id("app", 1), Order::Ascending).await;
    assert_eq!(messages, [message(1), message(2)]);
    let failures = attempts_of_message(store, &id("app", 1), &id("msg", 2)).await;
    assert_eq!(failures[0], failed(attempt(1, 2, 1, at(6)), 1, 0).attempt);

    store.heartbeat(&node(2), at(500), at(400)).await.unwrap();
    assert_eq!(claim_all(store, 2, 1, 500, 9).await[0].message, message(1));
    let waiting = claim_all(store, 2, 2, 500, 9).await;
    let waiting: Vec<_> = waiting.into_iter().map(|row| (row.message, row.trigger)).collect();
    assert_eq!(waiting, [(message(2), AttemptTrigger::Manual), (message(1), AttemptTrigger::Scheduled)]);
    assert_eq!(store.next_due().await.unwrap(), Some(at(1_006)));
    let again = claim_all(store, 2, 1, 1_006, 9).await;
    assert_eq!((again[0].message.clone(), again[0].attempts), (message(2), 1));
    tasks::finds_it_half_done(store).await;
}

#[tokio::test]
async fn a_sqlite_file_opened_again_holds_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("provider.db");
    let store: Shared = provider_store::sqlite::open(&path).await.unwrap();
    let version = routes(&store, 2).await;
    leaves_work(store.as_ref(), version).await;
    drop(store);
    finds_it(provider_store::sqlite::open(&path).await.unwrap().as_ref()).await;
}

#[tokio::test]
async fn a_database_of_postgresql_opened_again_holds_everything() {
    let config = database().await;
    let store = provider_store::postgres::open(&config).await.unwrap();
    let version = routes(&store, 2).await;
    leaves_work(store.as_ref(), version).await;
    drop(store);
    finds_it(provider_store::postgres::open(&config).await.unwrap().as_ref()).await;
}

#[tokio::test]
async fn two_processes_on_one_sqlite_file_see_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("provider.db");
    let server = provider_store::sqlite::open(&path).await.unwrap();
    let command = provider_store::sqlite::open(&path).await.unwrap();
    see_each_other(server, command).await;
}

#[tokio::test]
async fn two_nodes_on_one_database_of_postgresql_see_each_other() {
    let config = database().await;
    let (one, other) = tokio::join!(provider_store::postgres::open(&config), provider_store::postgres::open(&config));
    see_each_other(one.unwrap(), other.unwrap()).await;
}

async fn see_each_other(server: Shared, command: Shared) {
    let version = routes(&server, 1).await;
    command.create_endpoint(endpoint(2), usize::MAX, None).await.unwrap();
    server.remote_changes().wait().await;
    let stale = server.accept(vec![sent(1, version, &[(1, None)])], at(5)).await.unwrap();
    assert_eq!(reasons(stale), ["stale"]);
    accepted(&server, vec![sent(1, version + 1, &[(1, None), (2, None)])], at(5)).await;
    command.remote_changes().wait().await;
    server.record_attempts(vec![succeeded(attempt(1, 1, 1, at(6)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(claim_all(&*command, 2, 2, 9, 9).await.len(), 1);
    assert_eq!(claim_all(&*command, 2, 1, 9, 9).await.len(), 0);
}
