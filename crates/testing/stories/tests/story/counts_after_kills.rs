//! Counts by hour equal the attempts, also after `kill -9`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use consumer::ApiClient;
use http::Response;
use http_body_util::Full;
use provider_core::model::Id;
use provider_core::model::counts::{AttemptCounts, DeliveryCounts, Hour};
use provider_core::port::{CountScope, Store};
use provider_store::postgres::PostgresConfig;
use serde_json::json;
use testkit::server::Launch;
use testkit::site::http_client;

use crate::http_server;
use crate::support::{WAIT_MAX, launch};

const KILLS: u64 = 4;
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
        // Two of three attempts fail, so that messages are retried and some are given up.
        let status = if requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) { 204 } else { 500 };
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
    server.stop().unwrap();
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
