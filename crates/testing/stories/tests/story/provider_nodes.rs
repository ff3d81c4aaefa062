//! Provider nodes on one PostgreSQL: every message is delivered once, and one node finishes the work of another.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use consumer::ApiClient;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use testkit::postgres::{DedicatedServer, Settings};
use testkit::server::Launch;
use testkit::site::http_client;
use tokio::sync::Notify;

use crate::http_server;
use crate::support::{WAIT_MAX, launch};

/// Difference of a node's clock: more than the time without a heartbeat after which a node is dead.
const CLOCK_SKEW_S: i64 = 15;

/// An outage of the database that is longer than the time without a heartbeat after which a node is dead.
const OUTAGE: Duration = Duration::from_secs(13);

const ORDERING_KEY: HeaderName = HeaderName::from_static("lotwire-ordering-key");

/// A receiver that counts messages.
#[derive(Clone, Default)]
struct Arrivals {
    counted: Arc<Mutex<Counted>>,
    arrived: Arc<Notify>,
}

/// How often each message arrived, and the order of their first arrivals.
#[derive(Default)]
struct Counted {
    order: Vec<String>,
    counts: HashMap<String, usize>,
}

impl Arrivals {
    /// Starts a receiver that responds after `delay`. Returns it with its URL.
    async fn start(delay: Duration) -> (Self, String) {
        let arrivals = Self::default();
        let recorder = arrivals.clone();
        let url = http_server::serve(move |request| {
            recorder.note(request.headers()["webhook-id"].to_str().unwrap());
            async move {
                tokio::time::sleep(delay).await;
                Ok(Response::new(Full::<Bytes>::default()))
            }
        })
        .await;
        (arrivals, format!("{url}/"))
    }

    fn note(&self, message: &str) {
        let Counted { order, counts } = &mut *self.counted.lock().unwrap();
        let count = counts.entry(message.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            order.push(message.to_owned());
        }
        self.arrived.notify_one();
    }

    fn count(&self, message: &str) -> usize {
        self.counted.lock().unwrap().counts.get(message).copied().unwrap_or_default()
    }

    /// Waits until each of these messages has arrived.
    async fn wait_for(&self, messages: &HashSet<String>) {
        let all = async {
            while !messages.iter().all(|message| self.count(message) > 0) {
                self.arrived.notified().await;
            }
        };
        let missing = || messages.iter().filter(|message| self.count(message) == 0).count();
        assert!(tokio::time::timeout(WAIT_MAX, all).await.is_ok(), "{} never arrived", missing());
    }

    /// Waits until `count` messages have arrived.
    async fn wait_for_count(&self, count: usize) {
        let enough = async {
            while self.counted.lock().unwrap().order.len() < count {
                self.arrived.notified().await;
            }
        };
        assert!(tokio::time::timeout(WAIT_MAX, enough).await.is_ok(), "fewer than {count} messages arrived");
    }

    fn order(&self) -> Vec<String> {
        self.counted.lock().unwrap().order.clone()
    }
}

/// Launches of two provider nodes on a new database. Neither is started.
async fn two_nodes() -> (tempfile::TempDir, Launch, Launch) {
    let data = tempfile::tempdir().unwrap();
    let database = testkit::postgres::fresh_database().await.unwrap();
    let first = launch(data.path()).database(&database).roles(&["provider"]);
    let second = first.second_node().unwrap();
    (data, first, second)
}

/// Creates an application with this endpoint. Returns a client for each node and the path for messages.
async fn set_up(first: &Launch, second: &Launch, endpoint: &Value) -> (ApiClient, ApiClient, String) {
    let ([one, other], path) = set_up_nodes([first, second], endpoint).await;
    (one, other, path)
}

/// As [`set_up`], for any number of nodes.
async fn set_up_nodes<const NODES: usize>(nodes: [&Launch; NODES], endpoint: &Value) -> ([ApiClient; NODES], String) {
    let key = nodes[0].create_provider_key("Nodes").unwrap();
    let nodes = nodes.map(|launch| ApiClient::new(http_client(), launch.provider_url(), &key).unwrap());
    let one = &nodes[0];
    let application = one.post("/api/v1/app", &json!({"name": "Nodes"})).await.unwrap();
    let application = format!("/api/v1/app/{}", application.text("/id").unwrap());
    one.post(&format!("{application}/endpoint"), endpoint).await.unwrap();
    (nodes, format!("{application}/msg"))
}

/// Waits until no delivery is unfinished.
async fn finished(node: &Launch) {
    let finished = async {
        while node.metric("lotwire_provider_backlog").await.unwrap() > 0.0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, finished).await.unwrap();
}

/// Sends messages one after the other, until one is refused. Returns the ids of the accepted ones.
async fn send(api: ApiClient, path: String, count: usize) -> HashSet<String> {
    let mut accepted = HashSet::new();
    for number in 0..count {
        let message = json!({"eventType": "lot.sold", "payload": {"number": number}});
        match api.post(&path, &message).await {
            Ok(reply) => accepted.insert(reply.text("/id").unwrap().to_owned()),
            Err(_) => break,
        };
    }
    accepted
}

async fn send_from(api: &ApiClient, path: &str, senders: usize, each: usize) -> HashSet<String> {
    let senders = (0..senders).map(|_| tokio::spawn(send(api.clone(), path.to_owned(), each)));
    let mut accepted = HashSet::new();
    for sender in senders.collect::<Vec<_>>() {
        accepted.extend(sender.await.unwrap());
    }
    accepted
}

#[tokio::test(flavor = "multi_thread")]
async fn each_message_is_delivered_once_and_only_a_killed_node_leaves_copies() {
    let (_data, first, second) = two_nodes().await;
    let _first = first.start(&http_client()).await.unwrap();
    let doomed = second.start(&http_client()).await.unwrap();
    let (arrivals, url) = Arrivals::start(Duration::from_millis(20)).await;
    let (survivor, dying, path) = set_up(&first, &second, &json!({"url": url})).await;

    // Both nodes run.
    let (at_survivor, at_dying) = tokio::join!(send_from(&survivor, &path, 4, 100), send_from(&dying, &path, 4, 100));
    assert_eq!((at_survivor.len(), at_dying.len()), (400, 400));
    arrivals.wait_for(&at_survivor).await;
    arrivals.wait_for(&at_dying).await;
    assert!(at_survivor.iter().chain(&at_dying).all(|message| arrivals.count(message) == 1));

    // One node is killed while both are busy.
    let sending_to_survivor = tokio::spawn({
        let survivor = survivor.clone();
        let path = path.clone();
        async move { send_from(&survivor, &path, 4, 300).await }
    });
    let sending_to_dying = tokio::spawn({
        let dying = dying.clone();
        let path = path.clone();
        async move { send_from(&dying, &path, 4, 100_000).await }
    });
    arrivals.wait_for_count(1_200).await;
    doomed.kill();
    let at_survivor = sending_to_survivor.await.unwrap();
    let at_dying = sending_to_dying.await.unwrap();
    assert_eq!(at_survivor.len(), 1_200);
    assert!(!at_dying.is_empty());
    arrivals.wait_for(&at_survivor).await;
    arrivals.wait_for(&at_dying).await;
    // When the dead node's lease expires, the survivor repeats the attempts that were made but not recorded.
    finished(&first).await;
    let copies = |of: &HashSet<String>| of.iter().filter(|message| arrivals.count(message) > 1).count();
    assert_eq!(copies(&at_survivor), 0, "a message accepted by the survivor arrived twice");
    let copied = copies(&at_dying);
    assert!(copied < at_dying.len() / 2, "too many recorded attempts were repeated: {copied} of {}", at_dying.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_with_wrong_clocks_do_not_take_deliveries_of_another_node() {
    let (data, on_time, other) = two_nodes().await;
    let ahead = other.clock_ahead(data.path(), CLOCK_SKEW_S).unwrap();
    let behind = on_time.second_node().unwrap().clock_ahead(data.path(), -CLOCK_SKEW_S).unwrap();
    let http = http_client();
    let _nodes =
        [on_time.start(&http).await.unwrap(), ahead.start(&http).await.unwrap(), behind.start(&http).await.unwrap()];
    // Each node keeps its messages in memory for a few heartbeats, and longer than a new node is watched before it is judged.
    let (arrivals, url) = Arrivals::start(Duration::from_secs(15)).await;
    let (nodes, path) = set_up_nodes([&on_time, &ahead, &behind], &json!({"url": url})).await;
    let mut sent = HashSet::new();
    for node in nodes {
        sent.extend(send(node, path.clone(), 4).await);
    }
    assert_eq!(sent.len(), 12);
    arrivals.wait_for(&sent).await;
    finished(&on_time).await;
    let copies: Vec<_> = sent.iter().filter(|message| arrivals.count(message) > 1).collect();
    assert!(copies.is_empty(), "a node took deliveries of a live one: {copies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_outage_of_the_database_nodes_do_not_take_deliveries_of_another_node() {
    let data = tempfile::tempdir().unwrap();
    let mut database = DedicatedServer::start(&Settings::default()).unwrap();
    database.sql("CREATE DATABASE nodes ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let first = launch(data.path()).database(&database.url("nodes")).roles(&["provider"]);
    let first = first.set("PROVIDER__REQUEST_TIMEOUT", "60s");
    let second = first.second_node().unwrap();
    let _nodes = [first.start(&http_client()).await.unwrap(), second.start(&http_client()).await.unwrap()];
    // The receiver responds after the outage.
    let (arrivals, url) = Arrivals::start(Duration::from_secs(25)).await;
    let (nodes, path) = set_up_nodes([&first, &second], &json!({"url": url})).await;
    let mut sent = HashSet::new();
    for node in nodes {
        sent.extend(send(node, path.clone(), 4).await);
    }
    assert_eq!(sent.len(), 8);
    arrivals.wait_for(&sent).await;
    database.freeze().unwrap();
    tokio::time::sleep(OUTAGE).await;
    database.thaw().unwrap();
    finished(&first).await;
    let copies: Vec<_> = sent.iter().filter(|message| arrivals.count(message) > 1).collect();
    assert!(copies.is_empty(), "a node took deliveries of a live one: {copies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_shuts_down_releases_its_waiting_deliveries_and_leaves_no_copies() {
    let (_data, first, second) = two_nodes().await;
    let (first, second) =
        (first.set("PROVIDER__ENDPOINT_CONCURRENCY", "1"), second.set("PROVIDER__ENDPOINT_CONCURRENCY", "1"));
    let (arrivals, url) = Arrivals::start(Duration::from_millis(200)).await;
    let ending = second.start(&http_client()).await.unwrap();
    let (_, api, path) = set_up(&second, &second, &json!({"url": url})).await;
    let sent = send(api.clone(), path.clone(), 20).await;
    assert_eq!(sent.len(), 20);
    assert!(tokio::task::block_in_place(|| ending.stop()).unwrap().success());

    // No node runs now. The nodes have released their claimed deliveries, so the next node does not wait for a lease to expire.
    let stuck = first.run_command(&["provider", "stuck", "--json"]).unwrap();
    assert_eq!(stuck["waitingFor"]["inHand"], 0, "{stuck}");
    assert!(api.post(&path, &json!({"eventType": "lot.sold", "payload": {}})).await.is_err());
    let _first = first.start(&http_client()).await.unwrap();
    arrivals.wait_for(&sent).await;
    assert!(sent.iter().all(|message| arrivals.count(message) == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_one_key_stay_in_order_when_one_of_two_nodes_is_killed() {
    const KEYED: usize = 40;
    let (_data, first, second) = two_nodes().await;
    let _first = first.start(&http_client()).await.unwrap();
    let doomed = second.start(&http_client()).await.unwrap();
    let (arrivals, url) = Arrivals::start(Duration::from_millis(30)).await;
    let (one, other, path) = set_up(&first, &second, &json!({"url": url, "ordering": "key"})).await;
    let key = HeaderMap::from_iter([(ORDERING_KEY, HeaderValue::from_static("lot-1"))]);
    let mut sent = Vec::new();
    for number in 0..KEYED {
        // Both nodes accept messages in turns, until one is killed.
        let api = if number % 2 == 1 && number < KEYED / 2 { &other } else { &one };
        let message = json!({"eventType": "lot.sold", "payload": {"number": number}});
        let reply = api.post_with_headers(&path, key.clone(), &message).await.unwrap();
        sent.push(reply.text("/id").unwrap().to_owned());
    }
    doomed.kill();
    arrivals.wait_for(&sent.iter().cloned().collect()).await;
    assert_eq!(arrivals.order(), sent);
}
