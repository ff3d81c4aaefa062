//! Stuck deliveries: why they wait, and how operators release or cancel them while the server runs.

use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use consumer::ApiClient;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use testkit::server::{Server, built_binary};
use testkit::site::http_client;

use crate::http_server;
use crate::support::{WAIT_MAX, launch};

/// A receiver that responds with a chosen status and records the ids of the messages that it accepted. With 503 it asks
/// for a pause of an hour.
#[derive(Clone)]
struct Receiver {
    status: Arc<AtomicU16>,
    accepted: Arc<Mutex<Vec<String>>>,
    url: String,
}

impl Receiver {
    async fn start(status: u16) -> Self {
        let mut receiver =
            Self { status: Arc::new(AtomicU16::new(status)), accepted: Arc::default(), url: String::new() };
        let responder = receiver.clone();
        let url = http_server::serve(move |request| std::future::ready(Ok(responder.answer(request.headers())))).await;
        receiver.url = format!("{url}/");
        receiver
    }

    fn answer(&self, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let status = self.status.load(Ordering::SeqCst);
        if status == 200 {
            self.accepted.lock().unwrap().push(headers["webhook-id"].to_str().unwrap().to_owned());
        }
        let mut answer = Response::builder().status(status);
        if status == 503 {
            answer = answer.header("retry-after", "3600");
        }
        answer.body(Full::default()).unwrap()
    }

    fn respond_with(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }
}

/// A provider with an application and an endpoint with ordering by key. Retries follow after an hour.
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
        Self::open_with(database, "1h,1h,1h").await
    }

    async fn open_with(database: Option<String>, retry_schedule: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut launch = launch(data.path()).roles(&["provider"]).set("PROVIDER__RETRY_SCHEDULE", retry_schedule);
        if let Some(database) = &database {
            launch = launch.database(database);
        }
        let server = launch.start(&http_client()).await.unwrap();
        let key = launch.create_provider_key("Hartley").unwrap();
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

    /// Runs a command of `lotwire provider`: whether it succeeded, and its output.
    fn run(&self, arguments: &[&str]) -> (bool, String) {
        self.run_lotwire(&[&["provider"], arguments].concat())
    }

    /// Runs a command: whether it succeeded, and its output.
    fn run_lotwire(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(built_binary("lotwire").unwrap());
        command.args(arguments).arg("--data-dir").arg(self.data.path());
        if let Some(database) = &self.database {
            command.args(["--database-url", database]);
        }
        let result = command.env("LOTWIRE_SECRETS__KEY", "07".repeat(32)).output().unwrap();
        // `doctor` reports faults on standard output and then fails.
        let text = if result.status.success() || arguments == ["doctor"] { result.stdout } else { result.stderr };
        (result.status.success(), String::from_utf8(text).unwrap())
    }

    /// Polls `stuck` until its first line is as `expected`; null if nothing waits.
    async fn stuck(&self, expected: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let asked = async {
            loop {
                let (succeeded, output) = self.run(&["stuck", "--json"]);
                assert!(succeeded, "{output}");
                last = output.lines().next().map_or(Value::Null, |line| serde_json::from_str(line).unwrap());
                if expected(&last) {
                    return last.clone();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        match tokio::time::timeout(WAIT_MAX, asked).await {
            Ok(stuck) => stuck,
            Err(_) => panic!("the stuck deliveries never reached the expected state: {last}"),
        }
    }
}

fn counts(due: u64, retry: u64, key: u64) -> Value {
    json!({ "due": due, "retry": retry, "orderingKey": key, "later": 0, "inHand": 0 })
}

async fn stuck_deliveries_are_listed_and_released(database: Option<String>) {
    let fixture = StuckFixture::open(database).await;
    let (_, listed) = fixture.run(&["application", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed["uid"], &listed["name"]), (&json!("customer-17"), &json!("Customer")));

    // Only the first message of a key is attempted and fails; the others wait behind it.
    let first = fixture.send(Some("lot-1")).await;
    fixture.send(None).await;
    fixture.stuck(|stuck| stuck["waitingFor"] == counts(0, 2, 0)).await;
    let second = fixture.send(Some("lot-1")).await;
    let third = fixture.send(Some("lot-1")).await;
    let stuck = fixture.stuck(|stuck| stuck["waitingFor"] == counts(0, 2, 2)).await;
    assert_eq!((&stuck["why"], &stuck["blockedKeys"], &stuck["lastCode"]), (&json!("failing"), &json!(1), &json!(500)));
    let (_, output) = fixture.run(&["stuck"]);
    assert!(output.contains("2 behind an earlier message of the ordering key (1 key;"), "{output}");

    // The operator skips the message, which needs a confirmation.
    let (_, blocked) =
        fixture.run(&["endpoint", "blocked-keys", "receiver-1", "--application", "customer-17", "--json"]);
    let blocked: Value = serde_json::from_str(&blocked).unwrap();
    assert_eq!(
        (&blocked["key"], &blocked["message"], &blocked["waiting"]),
        (&json!("lot-1"), &json!(first), &json!(2))
    );
    let (succeeded, output) = fixture.run(&["endpoint", "skip", "receiver-1", "--key", "lot-1"]);
    assert!(!succeeded && output.contains("add --yes"), "{output}");
    let (succeeded, output) =
        fixture.run(&["endpoint", "skip", &fixture.endpoint, "--key", "lot-1", "--message", &second, "--yes"]);
    assert!(
        !succeeded && output.contains("blocked-keys"),
        "a message that is not the head of the key was skipped: {output}"
    );
    let (succeeded, output) =
        fixture.run(&["endpoint", "skip", "receiver-1", "--key", "lot-1", "--message", &first, "--yes"]);
    assert!(succeeded && output.contains("2 messages behind it"), "{output}");
    fixture.stuck(|stuck| stuck["waitingFor"] == counts(0, 2, 1)).await;

    // After the receiver is repaired, the waiting messages are delivered immediately and in order.
    fixture.receiver.respond_with(200);
    let (succeeded, output) = fixture.run(&["endpoint", "retry-now", "receiver-1", "--json"]);
    assert!(succeeded, "{output}");
    assert_eq!(serde_json::from_str::<Value>(&output).unwrap(), json!({ "endpoint": fixture.endpoint, "messages": 2 }));
    fixture.stuck(Value::is_null).await;
    let accepted = fixture.receiver.accepted.lock().unwrap().clone();
    assert_eq!(accepted.len(), 3);
    let of_key: Vec<_> = accepted.into_iter().filter(|id| [&second, &third].contains(&id)).collect();
    assert_eq!(of_key, [second, third]);
}

async fn a_receiver_pause_is_listed_and_ended_and_waiting_deliveries_cancelled(database: Option<String>) {
    let fixture = StuckFixture::open(database).await;
    fixture.receiver.respond_with(503);
    let refused = fixture.send(None).await;
    fixture.stuck(|stuck| stuck["why"] == "paused").await;
    let behind = fixture.send(None).await;
    let stuck = fixture.stuck(|stuck| stuck["waitingFor"] == counts(1, 1, 0)).await;
    assert!(stuck["why"] == "paused" && stuck["pausedUntil"].is_string(), "{stuck}");
    let (_, shown) = fixture.run(&["endpoint", "show", "receiver-1"]);
    assert!(shown.contains("asked for a pause until"), "{shown}");

    let (succeeded, output) = fixture.run(&["endpoint", "cancel", "receiver-1"]);
    assert!(!succeeded && output.contains("Cancel 2 waiting deliveries") && output.contains("--yes"), "{output}");
    let (succeeded, output) = fixture.run(&["endpoint", "cancel", "receiver-1", "--yes"]);
    assert!(succeeded && output.contains("2 waiting deliveries were cancelled"), "{output}");
    fixture.stuck(Value::is_null).await;
    for (message, attempts) in [(&refused, 2), (&behind, 1)] {
        let path = format!("/api/v1/app/customer-17/attempt/msg/{message}?expanded_statuses=true");
        let listed = fixture.api.get(&path).await.unwrap().body;
        let listed = listed["data"].as_array().unwrap();
        assert_eq!((listed.len(), &listed[0]["status"]), (attempts, &json!(4)), "{listed:?}");
        assert_eq!(listed[0]["response"], "given up by hand");
    }

    // The pause also holds later messages, until the operator retries.
    let kept_back = fixture.send(None).await;
    fixture.stuck(|stuck| stuck["why"] == "paused" && stuck["waiting"] == 1).await;
    fixture.receiver.respond_with(200);
    let (succeeded, output) = fixture.run(&["endpoint", "retry-now", "receiver-1"]);
    assert!(succeeded && output.contains("0 deliveries"), "a message without an attempt was released: {output}");
    fixture.stuck(Value::is_null).await;
    assert_eq!(*fixture.receiver.accepted.lock().unwrap(), [kept_back]);
}

/// The line of `doctor` about the endpoint, once it is as `expected`.
async fn doctor_says(fixture: &StuckFixture, expected: &str) -> String {
    let said = async {
        loop {
            let (_, output) = fixture.run_lotwire(&["doctor"]);
            if let Some(line) = output.lines().find(|line| line.contains(expected)) {
                return line.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, said).await.expect("doctor never says so")
}

async fn doctor_names_ended_retries_with_the_command_that_recovers_them(database: Option<String>) {
    let fixture = StuckFixture::open_with(database, "1s").await;
    let sent = [fixture.send(None).await, fixture.send(None).await];
    let line = doctor_says(&fixture, "2 messages have failed, and their retries have ended").await;
    assert!(line.contains(&fixture.endpoint) && line.contains("500: The receiver's own code failed"), "{line}");
    fixture.receiver.respond_with(200);
    let command = line.split('`').nth(1).unwrap().strip_prefix("lotwire provider ").unwrap();
    let (succeeded, output) = fixture.run(&command.split(' ').collect::<Vec<_>>());
    assert!(succeeded && output.starts_with("qtask_"), "{output}");
    doctor_says(&fixture, "no endpoint fails").await;
    let mut accepted = fixture.receiver.accepted.lock().unwrap().clone();
    accepted.sort();
    assert_eq!(accepted, sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_names_ended_retries_with_the_command_that_recovers_them_on_sqlite() {
    doctor_names_ended_retries_with_the_command_that_recovers_them(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_names_ended_retries_with_the_command_that_recovers_them_on_postgresql() {
    let database = testkit::postgres::fresh_database().await.unwrap();
    doctor_names_ended_retries_with_the_command_that_recovers_them(Some(database)).await;
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
async fn the_error_for_an_unknown_name_says_how_to_list_and_for_an_ambiguous_uid_lists_the_ids() {
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
        let (succeeded, output) = fixture.run(arguments);
        assert!(!succeeded && output.contains(expected), "{arguments:?}: {output}");
    }
    fixture.api.post("/api/v1/app", &json!({ "name": "Other", "uid": "customer-18" })).await.unwrap();
    let same = json!({ "url": fixture.receiver.url, "uid": "receiver-1" });
    fixture.api.post("/api/v1/app/customer-18/endpoint", &same).await.unwrap();
    let (succeeded, output) = fixture.run(&["endpoint", "show", "receiver-1"]);
    assert!(!succeeded && output.contains("--application") && output.contains(&fixture.endpoint), "{output}");
    let (succeeded, output) =
        fixture.run(&["endpoint", "show", "receiver-1", "--application", "customer-17", "--json"]);
    assert!(succeeded && output.contains(&fixture.endpoint), "{output}");
}
