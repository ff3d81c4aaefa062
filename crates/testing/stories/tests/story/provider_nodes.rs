//! Provider nodes on one PostgreSQL: what one is given all deliver once, and what one leaves the other finishes.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use consumer::ApiClient;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use testkit::server::Launch;
use testkit::site::http_client;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::support::{WAIT_MAX, launch};

/// What a node may be missed for before others take what it had.
const MISSED_AFTER: Duration = Duration::from_secs(10);

const ORDERING_KEY: HeaderName = HeaderName::from_static("lotwire-ordering-key");

/// What arrived at a receiver.
#[derive(Clone, Default)]
struct Arrivals {
    seen: Arc<Mutex<Seen>>,
    arrived: Arc<Notify>,
}

/// How often each message arrived, and the order of their first arrivals.
#[derive(Default)]
struct Seen {
    order: Vec<String>,
    counts: HashMap<String, usize>,
}

impl Arrivals {
    /// A receiver that takes `delay` for each message, and its address.
    async fn start(delay: Duration) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let arrivals = Self::default();
        let serving = arrivals.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let arrivals = serving.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let arrivals = arrivals.clone();
                    async move {
                        arrivals.note(request.headers()["webhook-id"].to_str().unwrap());
                        tokio::time::sleep(delay).await;
                        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
                    }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        (arrivals, url)
    }

    fn note(&self, message: &str) {
        let Seen { order, counts } = &mut *self.seen.lock().unwrap();
        let count = counts.entry(message.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            order.push(message.to_owned());
        }
        self.arrived.notify_one();
    }

    fn count(&self, message: &str) -> usize {
        self.seen.lock().unwrap().counts.get(message).copied().unwrap_or_default()
    }

    /// Waits until every one of these has arrived.
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
            while self.seen.lock().unwrap().order.len() < count {
                self.arrived.notified().await;
            }
        };
        assert!(tokio::time::timeout(WAIT_MAX, enough).await.is_ok(), "not {count} arrived");
    }

    fn order(&self) -> Vec<String> {
        self.seen.lock().unwrap().order.clone()
    }
}

/// Two nodes that are about to start, on a database of their own.
async fn two_nodes() -> (tempfile::TempDir, Launch, Launch) {
    let data = tempfile::tempdir().unwrap();
    let database = testkit::postgres::fresh_database().await.unwrap();
    let first = launch(data.path()).database(&database).roles(&["provider"]);
    let second = first.second_node().unwrap();
    (data, first, second)
}

/// The API of each node with one key, and the path to send messages to, of an application with this endpoint.
async fn set_up(first: &Launch, second: &Launch, endpoint: &Value) -> (ApiClient, ApiClient, String) {
    let account = first.run_command(&["provider", "account", "create", "Nodes", "--json"]).unwrap();
    let account = account["id"].as_str().unwrap();
    let key = ["provider", "key", "create", "--account", account, "--name", "nodes", "--json"];
    let key = first.run_command(&key).unwrap()["key"].as_str().unwrap().to_owned();
    let api = |launch: &Launch| ApiClient::new(http_client(), launch.provider_url(), &key).unwrap();
    let (one, other) = (api(first), api(second));
    let application = one.post("/api/v1/app", &json!({"name": "Nodes"})).await.unwrap();
    let application = format!("/api/v1/app/{}", application.text("/id").unwrap());
    one.post(&format!("{application}/endpoint"), endpoint).await.unwrap();
    (one, other, format!("{application}/msg"))
}

/// Sends messages one after the other, as long as they are accepted; the ids of those that were.
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

    // Normal running.
    let (here, there) = tokio::join!(send_from(&survivor, &path, 4, 100), send_from(&dying, &path, 4, 100));
    assert_eq!((here.len(), there.len()), (400, 400));
    arrivals.wait_for(&here).await;
    arrivals.wait_for(&there).await;
    assert!(here.iter().chain(&there).all(|message| arrivals.count(message) == 1));

    // Killed while both are busy.
    let sending_here = tokio::spawn({
        let (survivor, path) = (survivor.clone(), path.clone());
        async move { send_from(&survivor, &path, 4, 300).await }
    });
    let sending_there = tokio::spawn({
        let (dying, path) = (dying.clone(), path.clone());
        async move { send_from(&dying, &path, 4, 100_000).await }
    });
    arrivals.wait_for_count(1_200).await;
    doomed.kill();
    let (here, there) = (sending_here.await.unwrap(), sending_there.await.unwrap());
    assert_eq!(here.len(), 1_200);
    assert!(!there.is_empty());
    arrivals.wait_for(&here).await;
    arrivals.wait_for(&there).await;
    // What the dead node had sent and not recorded is sent again when it is missed.
    let finished = async {
        while first.metric("lotwire_provider_backlog").await.unwrap() > 0.0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, finished).await.unwrap();
    let copies = |of: &HashSet<String>| of.iter().filter(|message| arrivals.count(message) > 1).count();
    assert_eq!(copies(&here), 0, "what the survivor was given arrives once");
    let copied = copies(&there);
    assert!(copied < there.len() / 2, "what was recorded is not sent again: {copied} of {}", there.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_told_to_end_gives_what_waits_to_the_other_at_once_and_leaves_no_copies() {
    let (_data, first, second) = two_nodes().await;
    let (first, second) =
        (first.set("PROVIDER__ENDPOINT_CONCURRENCY", "1"), second.set("PROVIDER__ENDPOINT_CONCURRENCY", "1"));
    let (arrivals, url) = Arrivals::start(Duration::from_millis(50)).await;
    let ending = second.start(&http_client()).await.unwrap();
    let (_, api, path) = set_up(&second, &second, &json!({"url": url})).await;
    let sent = send(api.clone(), path.clone(), 60).await;
    assert_eq!(sent.len(), 60);
    let _first = first.start(&http_client()).await.unwrap();
    let told = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &ending.id().to_string()]).status().unwrap().success());
    arrivals.wait_for(&sent).await;
    assert!(told.elapsed() < MISSED_AFTER, "nobody waited until it was missed: {:?}", told.elapsed());
    assert!(sent.iter().all(|message| arrivals.count(message) == 1));
    assert!(api.post(&path, &json!({"eventType": "lot.sold", "payload": {}})).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_one_key_stay_in_order_although_one_of_two_nodes_is_killed() {
    const KEYED: usize = 40;
    let (_data, first, second) = two_nodes().await;
    let _first = first.start(&http_client()).await.unwrap();
    let doomed = second.start(&http_client()).await.unwrap();
    let (arrivals, url) = Arrivals::start(Duration::from_millis(30)).await;
    let (one, other, path) = set_up(&first, &second, &json!({"url": url, "ordering": "key"})).await;
    let key = HeaderMap::from_iter([(ORDERING_KEY, HeaderValue::from_static("lot-1"))]);
    let mut sent = Vec::new();
    for number in 0..KEYED {
        // By turns, until one of them is gone.
        let api = if number % 2 == 1 && number < KEYED / 2 { &other } else { &one };
        let message = json!({"eventType": "lot.sold", "payload": {"number": number}});
        let reply = api.post_with_headers(&path, key.clone(), &message).await.unwrap();
        sent.push(reply.text("/id").unwrap().to_owned());
    }
    doomed.kill();
    arrivals.wait_for(&sent.iter().cloned().collect()).await;
    assert_eq!(arrivals.order(), sent);
}
