//! After `kill -9`, the counts by hour equal the attempts, and a replay still follows its messages.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use consumer::ApiClient;
use http::Response;
use http_body_util::Full;
use provider_core::model::counts::{AttemptCounts, DeliveryCounts, Hour};
use provider_core::model::{Id, TaskStatus};
use provider_core::port::{CountScope, Order, Page, Store};
use provider_store::postgres::PostgresConfig;
use serde_json::json;
use testkit::server::Launch;
use testkit::site::http_client;

use crate::http_server;
use crate::support::{WAIT_MAX, launch};

const KILLS: u64 = 4;
/// Kills while a replay sends messages. On PostgreSQL the replay continues ten seconds later.
const REPLAY_KILLS: usize = 2;
const SENDERS: u64 = 4;
const ENDPOINTS: usize = 3;
const ALL: std::ops::Range<Hour> = Hour(0)..Hour(1_000_000);

/// Sends messages until the server is gone; returns the number of accepted ones. The last request got no response, so its
/// message may have been accepted, too.
async fn send(api: ApiClient, path: String) -> u64 {
    let mut accepted = 0;
    let message = json!({ "eventType": "lot.sold", "payload": {} });
    while api.post(&path, &message).await.is_ok() {
        accepted += 1;
    }
    accepted
}

async fn counts_equal_the_attempts_after_kills(database: Option<String>) {
    let data = tempfile::tempdir().unwrap();
    let mut launch = launch(data.path()).roles(&["provider"]).set("PROVIDER__RETRY_SCHEDULE", "50ms,50ms");
    if let Some(database) = &database {
        launch = launch.database(database);
    }
    let requests = Arc::new(AtomicUsize::new(0));
    let url = http_server::serve(move |_| {
        // Three of five attempts fail, so that messages are retried and some are given up. Five is no multiple of the number of
        // endpoints: endpoints that are called in turns all have successes.
        let status = if requests.fetch_add(1, Ordering::Relaxed) % 5 < 2 { 204 } else { 500 };
        std::future::ready(Ok(Response::builder().status(status).body(Full::default()).unwrap()))
    });
    let url = url.await;
    let mut server = launch.start(&http_client()).await.unwrap();
    let key = launch.create_provider_key("Hartley").unwrap();
    let api = ApiClient::new(http_client(), launch.provider_url(), &key).unwrap();
    let application = api.post("/api/v1/app", &json!({ "name": "Customer" })).await.unwrap();
    let application = Id::from(application.text("/id").unwrap());
    let mut endpoints = Vec::new();
    for _ in 0..ENDPOINTS {
        let made = api.post(&format!("/api/v1/app/{application}/endpoint"), &json!({ "url": url })).await.unwrap();
        endpoints.push(Id::from(made.text("/id").unwrap()));
    }
    let mut accepted = 0;
    for kill in 1..=KILLS {
        let senders = (0..SENDERS).map(|_| tokio::spawn(send(api.clone(), format!("/api/v1/app/{application}/msg"))));
        let senders: Vec<_> = senders.collect();
        tokio::time::sleep(Duration::from_millis(50 * kill)).await;
        server.kill();
        for sender in senders {
            accepted += sender.await.unwrap();
        }
        server = launch.start(&http_client()).await.unwrap();
    }
    finished(&launch).await;
    let late = api.post(&format!("/api/v1/app/{application}/endpoint"), &json!({ "url": url })).await.unwrap();
    let late = Id::from(late.text("/id").unwrap());
    let replay = format!("/api/v1/app/{application}/endpoint/{late}/replay-missing");
    let replay = api.post(&replay, &json!({ "since": "2026-01-01T00:00:00Z" })).await.unwrap();
    let replay = Id::from(replay.text("/id").unwrap());
    let mut sent = 0;
    for _ in 0..REPLAY_KILLS {
        sent = replay_has_sent(&api, &replay, sent).await;
        server.kill();
        server = launch.start(&http_client()).await.unwrap();
    }
    replay_has_sent(&api, &replay, u64::MAX).await;
    finished(&launch).await;
    server.stop().unwrap();
    endpoints.push(late);
    let store = store(data.path(), database).await;

    let messages = store.message_counts(&CountScope::Application(application.clone()), ALL).await.unwrap();
    let messages: u64 = messages.iter().map(|(_, counts)| counts.messages).sum();
    assert!(
        (accepted..=accepted + KILLS * SENDERS).contains(&messages),
        "{messages} messages, {accepted} acknowledged"
    );
    let mut delivered = HashSet::new();
    for endpoint in &endpoints {
        let counted = store.delivery_counts(&CountScope::Endpoint(endpoint.clone()), ALL).await.unwrap();
        let counted: DeliveryCounts = counted.into_iter().map(|(_, counts)| counts).sum();
        let index = store.count_attempts(endpoint, Id::from("")..Id::from("~")).await.unwrap();
        assert_eq!(counted.attempts, index);
        assert_ne!(counted.attempts, AttemptCounts::default());
        assert_eq!(counted.failures.iter().sum::<u64>(), index.fail);
        assert_eq!(counted.durations.buckets.iter().sum::<u64>(), index.success + index.fail);
        // Each message went to each endpoint, and nothing waits.
        assert_eq!(counted.ended.total(), messages);
        delivered.insert(counted.ended.delivered);
    }
    assert!(!delivered.contains(&0));
    let last = Page { from: None, order: Order::Descending, limit: 1 };
    let task = store.endpoint_tasks(&endpoints[ENDPOINTS], last).await.unwrap().remove(0);
    assert_eq!((task.status, task.progress.found, task.progress.enqueued), (TaskStatus::Finished, messages, messages));
    let at_late = store.delivery_counts(&CountScope::Endpoint(task.endpoint), ALL).await.unwrap();
    let at_late: DeliveryCounts = at_late.into_iter().map(|(_, counts)| counts).sum();
    assert_eq!((task.progress.ended, task.progress.waiting()), (at_late.ended, 0));
}

/// Waits until a replay has sent more messages than this, or has finished; returns the number of sent messages.
async fn replay_has_sent(api: &ApiClient, task: &Id, more_than: u64) -> u64 {
    let sent = async {
        loop {
            let task = api.get(&format!("/api/v1/background-task/{task}")).await.unwrap();
            let sent = task.body.pointer("/data/messagesSent").and_then(|sent| sent.as_u64()).unwrap();
            if sent > more_than || task.text("/status").unwrap() == "finished" {
                return sent;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, sent).await.unwrap()
}

/// Waits until no delivery is unfinished.
async fn finished(node: &Launch) {
    let finished = async {
        // The port for metrics may open after the others.
        while !node.metric("lotwire_provider_backlog").await.is_ok_and(|backlog| backlog == 0.0) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, finished).await.unwrap();
}

async fn store(data: &Path, database: Option<String>) -> Arc<dyn Store> {
    match database {
        None => provider_store::sqlite::open(&data.join("provider.db")).await.unwrap(),
        Some(url) => provider_store::postgres::open(&PostgresConfig { url, ..Default::default() }).await.unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_equal_the_attempts_after_kills_on_sqlite() {
    counts_equal_the_attempts_after_kills(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_equal_the_attempts_after_kills_on_postgresql() {
    counts_equal_the_attempts_after_kills(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
