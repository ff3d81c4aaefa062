//! Work that is stuck: why it waits, and what operators do about it on the command line while the server runs.

use std::convert::Infallible;
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use consumer::ApiClient;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use testkit::server::{Server, built_binary};
use testkit::site::http_client;
use tokio::net::TcpListener;

use crate::support::{WAIT_MAX, launch};

/// Answers every delivery with the status that it is told, and keeps the ids of those answered 2xx. With 503 it asks to be left
/// alone for an hour.
#[derive(Clone)]
struct Receiver {
    status: Arc<AtomicU16>,
    taken: Arc<Mutex<Vec<String>>>,
    url: String,
}

impl Receiver {
    async fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let receiver = Self { status: Arc::new(AtomicU16::new(status)), taken: Arc::default(), url };
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = serving.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let answer = receiver.answer(request.headers());
                    async move { Ok::<_, Infallible>(answer) }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        receiver
    }

    fn answer(&self, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let status = self.status.load(Ordering::SeqCst);
        if status == 200 {
            self.taken.lock().unwrap().push(headers["webhook-id"].to_str().unwrap().to_owned());
        }
        let mut answer = Response::builder().status(status);
        if status == 503 {
            answer = answer.header("retry-after", "3600");
        }
        answer.body(Full::default()).unwrap()
    }

    fn says(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }
}

/// A server with an application and an endpoint that wants order, whose next attempts are an hour away.
struct StuckFixture {
    database: Option<String>,
    api: ApiClient,
    endpoint: String,
    receiver: Receiver,
    _server: Server,
    data: tempfile::TempDir,
}

impl StuckFixture {
    async fn open(database: Option<String>) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut launch = launch(data.path()).roles(&["provider"]).set("PROVIDER__RETRY_SCHEDULE", "1h,1h,1h");
        if let Some(database) = &database {
            launch = launch.database(database);
        }
        let server = launch.start(&http_client()).await.unwrap();
        let account = launch.run_command(&["provider", "account", "create", "Hartley", "--json"]).unwrap();
        let account = account["id"].as_str().unwrap();
        let create = ["provider", "key", "create", "--account", account, "--name", "k", "--json"];
        let key = launch.run_command(&create).unwrap()["key"].as_str().unwrap().to_owned();
        let api = ApiClient::new(http_client(), launch.provider_url(), &key).unwrap();
        api.post("/api/v1/app", &json!({ "name": "Customer", "uid": "customer-17" })).await.unwrap();
        let receiver = Receiver::start(500).await;
        let endpoint = json!({ "url": receiver.url, "uid": "receiver-1", "ordering": "key" });
        let endpoint = api.post("/api/v1/app/customer-17/endpoint", &endpoint).await.unwrap();
        let endpoint = endpoint.text("/id").unwrap().to_owned();
        Self { database, api, endpoint, receiver, _server: server, data }
    }

    async fn send(&self, key: Option<&'static str>) -> String {
        let key = key.map(|key| (HeaderName::from_static("lotwire-ordering-key"), HeaderValue::from_static(key)));
        let message = json!({ "eventType": "a", "payload": {} });
        let path = "/api/v1/app/customer-17/msg";
        let sent = self.api.post_with_headers(path, HeaderMap::from_iter(key), &message).await.unwrap();
        sent.text("/id").unwrap().to_owned()
    }

    /// What a command of `lotwire provider` prints.
    fn say(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(built_binary("lotwire").unwrap());
        command.arg("provider").args(arguments).arg("--data-dir").arg(self.data.path());
        if let Some(database) = &self.database {
            command.args(["--database-url", database]);
        }
        let output = command.env("LOTWIRE_SECRETS__KEY", "07".repeat(32)).output().unwrap();
        let text = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8(text).unwrap())
    }

    /// What waits, when it is as `expected`; null when nothing does.
    async fn stuck(&self, expected: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let asked = async {
            loop {
                let (worked, said) = self.say(&["stuck", "--json"]);
                assert!(worked, "{said}");
                last = said.lines().next().map_or(Value::Null, |line| serde_json::from_str(line).unwrap());
                if expected(&last) {
                    return last.clone();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        match tokio::time::timeout(WAIT_MAX, asked).await {
            Ok(stuck) => stuck,
            Err(_) => panic!("it is not what it should be: {last}"),
        }
    }
}

fn counts(due: u64, retry: u64, key: u64) -> Value {
    json!({ "due": due, "retry": retry, "orderingKey": key, "later": 0, "inHand": 0 })
}

async fn stuck_deliveries_are_listed_and_released(database: Option<String>) {
    let fixture = StuckFixture::open(database).await;
    let (_, listed) = fixture.say(&["application", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed["uid"], &listed["name"]), (&json!("customer-17"), &json!("Customer")));

    // Of a key only the first fails; the others wait for it.
    let first = fixture.send(Some("lot-1")).await;
    fixture.send(None).await;
    fixture.stuck(|stuck| stuck["waitingFor"] == counts(0, 2, 0)).await;
    let second = fixture.send(Some("lot-1")).await;
    let third = fixture.send(Some("lot-1")).await;
    let stuck = fixture.stuck(|stuck| stuck["waitingFor"] == counts(0, 2, 2)).await;
    assert_eq!((&stuck["why"], &stuck["blockedKeys"], &stuck["lastCode"]), (&json!("failing"), &json!(1), &json!(500)));
    let (_, said) = fixture.say(&["stuck"]);
    assert!(said.contains("2 wait for one before them of their ordering key (1 key;"), "{said}");

    // It is skipped by hand, but not without being asked.
    let (_, blocked) =
        fixture.say(&["endpoint", "blocked-keys", "receiver-1", "--application", "customer-17", "--json"]);
    let blocked: Value = serde_json::from_str(&blocked).unwrap();
    assert_eq!(
        (&blocked["key"], &blocked["message"], &blocked["waiting"]),
        (&json!("lot-1"), &json!(first), &json!(2))
    );
    let (worked, said) = fixture.say(&["endpoint", "skip", "receiver-1", "--key", "lot-1"]);
    assert!(!worked && said.contains("say --yes"), "{said}");
    let (worked, said) =
        fixture.say(&["endpoint", "skip", &fixture.endpoint, "--key", "lot-1", "--message", &second, "--yes"]);
    assert!(!worked && said.contains("blocked-keys"), "another message is not skipped: {said}");
    let (worked, said) =
        fixture.say(&["endpoint", "skip", "receiver-1", "--key", "lot-1", "--message", &first, "--yes"]);
    assert!(worked && said.contains("2 behind it"), "{said}");
    fixture.stuck(|stuck| stuck["waitingFor"] == counts(0, 2, 1)).await;

    // The receiver is mended: what waits goes out at once, and in order.
    fixture.receiver.says(200);
    let (worked, said) = fixture.say(&["endpoint", "retry-now", "receiver-1", "--json"]);
    assert!(worked, "{said}");
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), json!({ "endpoint": fixture.endpoint, "messages": 2 }));
    fixture.stuck(Value::is_null).await;
    let taken = fixture.receiver.taken.lock().unwrap().clone();
    assert_eq!(taken.len(), 3);
    let of_key: Vec<_> = taken.into_iter().filter(|id| [&second, &third].contains(&id)).collect();
    assert_eq!(of_key, [second, third]);
}

async fn a_receiver_pause_is_listed_and_ended_and_waiting_deliveries_cancelled(database: Option<String>) {
    let fixture = StuckFixture::open(database).await;
    fixture.receiver.says(503);
    let refused = fixture.send(None).await;
    fixture.stuck(|stuck| stuck["why"] == "paused").await;
    let behind = fixture.send(None).await;
    let stuck = fixture.stuck(|stuck| stuck["waitingFor"] == counts(1, 1, 0)).await;
    assert!(stuck["why"] == "paused" && stuck["pausedUntil"].is_string(), "{stuck}");
    let (_, shown) = fixture.say(&["endpoint", "show", "receiver-1"]);
    assert!(shown.contains("asked to be left alone until"), "{shown}");

    let (worked, said) = fixture.say(&["endpoint", "cancel", "receiver-1"]);
    assert!(!worked && said.contains("2 messages") && said.contains("--yes"), "{said}");
    let (worked, said) = fixture.say(&["endpoint", "cancel", "receiver-1", "--yes"]);
    assert!(worked && said.contains("2 messages that waited were given up"), "{said}");
    fixture.stuck(Value::is_null).await;
    for (message, attempts) in [(&refused, 2), (&behind, 1)] {
        let path = format!("/api/v1/app/customer-17/attempt/msg/{message}?expanded_statuses=true");
        let listed = fixture.api.get(&path).await.unwrap().body;
        let listed = listed["data"].as_array().unwrap();
        assert_eq!((listed.len(), &listed[0]["status"]), (attempts, &json!(4)), "{listed:?}");
        assert_eq!(listed[0]["response"], "given up by hand");
    }

    // The pause goes on for what is sent after that, until somebody says that the receiver was mended.
    let kept_back = fixture.send(None).await;
    fixture.stuck(|stuck| stuck["why"] == "paused" && stuck["waiting"] == 1).await;
    fixture.receiver.says(200);
    let (worked, said) = fixture.say(&["endpoint", "retry-now", "receiver-1"]);
    assert!(worked && said.contains("0 messages"), "it was never tried: {said}");
    fixture.stuck(Value::is_null).await;
    assert_eq!(*fixture.receiver.taken.lock().unwrap(), [kept_back]);
}

#[tokio::test(flavor = "multi_thread")]
async fn stuck_deliveries_are_listed_and_released_on_sqlite() {
    stuck_deliveries_are_listed_and_released(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stuck_deliveries_are_listed_and_released_on_postgresql() {
    stuck_deliveries_are_listed_and_released(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_pause_is_listed_and_ended_and_waiting_deliveries_cancelled_on_sqlite() {
    a_receiver_pause_is_listed_and_ended_and_waiting_deliveries_cancelled(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_pause_is_listed_and_ended_and_waiting_deliveries_cancelled_on_postgresql() {
    a_receiver_pause_is_listed_and_ended_and_waiting_deliveries_cancelled(Some(
        testkit::postgres::fresh_database().await.unwrap(),
    ))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_name_is_told_with_what_to_do_and_a_uid_of_two_with_their_ids() {
    let fixture = StuckFixture::open(None).await;
    for (arguments, expected) in [
        (&["endpoint", "show", "rot"][..], "lotwire provider endpoint list"),
        (&["endpoint", "list", "rot"], "lotwire provider application list"),
        (&["endpoint", "show", "receiver-1", "--application", "rot"], "lotwire provider application list"),
        (&["application", "list", "--account", "rot"], "lotwire provider account list"),
        (&["account", "show", "rot"], "lotwire provider account list"),
        (&["key", "create", "--account", "rot", "--name", "n"], "lotwire provider account list"),
        (&["endpoint", "skip", "receiver-1", "--key", "rot", "--yes"], "blocked-keys"),
    ] {
        let (worked, said) = fixture.say(arguments);
        assert!(!worked && said.contains(expected), "{arguments:?}: {said}");
    }
    fixture.api.post("/api/v1/app", &json!({ "name": "Other", "uid": "customer-18" })).await.unwrap();
    let same = json!({ "url": fixture.receiver.url, "uid": "receiver-1" });
    fixture.api.post("/api/v1/app/customer-18/endpoint", &same).await.unwrap();
    let (worked, said) = fixture.say(&["endpoint", "show", "receiver-1"]);
    assert!(!worked && said.contains("--application") && said.contains(&fixture.endpoint), "{said}");
    let (worked, said) = fixture.say(&["endpoint", "show", "receiver-1", "--application", "customer-17", "--json"]);
    assert!(worked && said.contains(&fixture.endpoint), "{said}");
}
