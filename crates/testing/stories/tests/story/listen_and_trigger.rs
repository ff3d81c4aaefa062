//! `lotwire listen` receives what `lotwire trigger` sends: at the embedded provider on both stores and at a remote
//! provider, handed on to another URL, and after listeners that were stopped or killed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use consumer::ApiClient;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::http_server;
use crate::support::launch;

/// A running server with one application.
struct Site {
    launch: Launch,
    /// None after the server was stopped.
    server: Option<Server>,
    key: String,
    application: String,
    _data: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        Self::start_with(launch(data.path()), data).await
    }

    async fn start_with(launch: Launch, data: tempfile::TempDir) -> Self {
        let server = launch.start(&http_client()).await.unwrap();
        let key = launch.create_provider_key("Listeners").unwrap();
        let api = ApiClient::new(http_client(), launch.provider_url(), &key).unwrap();
        let application = api.post("/api/v1/app", &json!({ "name": "Web site" })).await.unwrap();
        let application = application.text("/id").unwrap().to_owned();
        Site { launch, server: Some(server), key, application, _data: data }
    }

    /// Starts `lotwire listen` for the application and waits until its endpoint exists.
    async fn listen(&self, arguments: &[&str]) -> Listening {
        let mut command = self.launch.command();
        command.args(["listen", "--application", &self.application, "--port", "0"]).args(arguments);
        Listening::start(command).await
    }

    fn trigger(&self, arguments: &[&str]) -> Value {
        let command = ["trigger", "item-status-change", "--application", &self.application, "--json"];
        self.launch.run_command(&[&command, arguments].concat()).unwrap()
    }

    async fn endpoints(&self) -> Vec<Value> {
        let api = ApiClient::new(http_client(), self.launch.provider_url(), &self.key).unwrap();
        let list = api.get(&format!("/api/v1/app/{}/endpoint", self.application)).await.unwrap();
        list.body["data"].as_array().unwrap().clone()
    }
}

/// A `lotwire listen` process.
struct Listening {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
    /// What it printed on standard error until its endpoint existed.
    greeting: String,
}

impl Listening {
    async fn start(mut command: Command) -> Self {
        let start = move || {
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let out = BufReader::new(child.stdout.take().unwrap());
            let mut err = BufReader::new(child.stderr.take().unwrap());
            let mut greeting = String::new();
            while !greeting.contains("Listening as endpoint") {
                assert!(err.read_line(&mut greeting).unwrap() > 0, "{greeting}");
            }
            Listening { child, out, err, greeting }
        };
        tokio::task::spawn_blocking(start).await.unwrap()
    }

    /// The next line of standard output.
    async fn line(&mut self) -> String {
        tokio::task::block_in_place(|| {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the listener ended early");
            line
        })
    }

    /// The next line of standard error.
    async fn hint(&mut self) -> String {
        tokio::task::block_in_place(|| {
            let mut line = String::new();
            assert!(self.err.read_line(&mut line).unwrap() > 0, "the listener ended");
            line
        })
    }

    async fn event(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Waits for the end of the process. Returns the rest of standard error.
    async fn end(mut self) -> String {
        tokio::task::block_in_place(|| {
            let mut rest = String::new();
            self.err.read_to_string(&mut rest).unwrap();
            assert!(self.child.wait().unwrap().success(), "{rest}");
            rest
        })
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_prints_a_triggered_event_as_json_and_removes_its_endpoint_after_a_signal() {
    let site = Site::start().await;
    for signal in ["-INT", "-TERM"] {
        let mut listening = site.listen(&["--json"]).await;
        assert_eq!(site.endpoints().await.len(), 1);
        let sent = site.trigger(&["--status", "PASSED"]);
        let shown = listening.event().await;
        assert_eq!((&shown["verified"], &shown["id"], &shown["type"]), (&json!(true), &sent["id"], &sent["eventType"]));
        assert_eq!(shown["event"], sent["event"]);
        assert_eq!(shown["event"]["status"], "PASSED");
        listening.signal(signal);
        let said = listening.end().await;
        assert!(said.contains("1 event received") && said.contains("is removed"), "{said}");
        assert_eq!(site.endpoints().await, Vec::<Value>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trigger_warns_about_an_event_type_that_is_not_registered_and_still_sends() {
    let site = Site::start().await;
    let key = site._data.path().join("key.txt");
    std::fs::write(&key, &site.key).unwrap();
    let url = site.launch.provider_url();
    let remote = ["--provider-url", &url, "--api-key-file", key.to_str().unwrap()];
    let said = |more: &[&str]| {
        let mut command = site.launch.command();
        let arguments = ["trigger", "item-status-change", "--application", &site.application];
        let output = command.args(arguments).args(more).output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b"msg_"), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for more in [&[][..], &remote] {
        assert!(said(more).contains("ITEM_STATUS_CHANGE is not registered"), "{}", said(more));
    }
    let api = ApiClient::new(http_client(), site.launch.provider_url(), &site.key).unwrap();
    let known = json!({ "name": "ITEM_STATUS_CHANGE", "description": "An item's status" });
    api.post("/api/v1/event-type", &known).await.unwrap();
    for more in [&[][..], &remote] {
        assert!(!said(more).contains("not registered"), "{}", said(more));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_refuses_to_forward_to_itself() {
    let site = Site::start().await;
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port().to_string();
    for (forward, endpoint_url) in [
        (format!("http://127.0.0.1:{free}/hooks"), None),
        (format!("http://localhost:{free}"), None),
        ("https://tunnel.example.com/".to_owned(), Some("https://tunnel.example.com")),
    ] {
        let mut command = site.launch.command();
        command.args(["listen", "--application", &site.application, "--port", &free, "--forward", &forward]);
        command.args(endpoint_url.map(|url| ["--endpoint-url", url]).into_iter().flatten());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("the address of this listener"), "{forward}: {said}");
    }
    assert_eq!(site.endpoints().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_on_postgres_receives_what_trigger_writes_into_the_database() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let site = Site::start_with(launch, data).await;
    let mut listening = site.listen(&["--json", "--count", "1"]).await;
    let sent = site.trigger(&[]);
    assert_eq!(listening.event().await["id"], sent["id"]);
    listening.end().await;
    assert_eq!(site.endpoints().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_and_trigger_work_at_a_remote_provider_with_its_api_key() {
    let site = Site::start().await;
    // The commands have no database here: all they know of the provider is its URL and the key.
    let empty_directory = tempfile::tempdir().unwrap();
    let key_file = empty_directory.path().join("key.txt");
    std::fs::write(&key_file, &site.key).unwrap();
    let remote = launch(empty_directory.path());
    let url = site.launch.provider_url();
    let key_file = key_file.to_str().unwrap().to_owned();
    let target = ["--application", &site.application, "--provider-url", &url, "--api-key-file", &key_file];

    let mut command = remote.command();
    command.args(["listen", "--port", "0", "--json", "--count", "1"]).args(target);
    let mut listening = Listening::start(command).await;
    let trigger = [&["trigger", "auction-status-change", "--status", "ARCHIVED", "--json"][..], &target[..]].concat();
    let sent = remote.run_command(&trigger).unwrap();
    let shown = listening.event().await;
    assert_eq!((&shown["verified"], &shown["id"], &shown["event"]), (&json!(true), &sent["id"], &sent["event"]));
    listening.end().await;
    assert_eq!(site.endpoints().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forwarded_event_keeps_its_headers_and_is_retried_until_the_other_url_accepts_it() {
    let site = Site::start().await;
    let calls = Arc::new(AtomicUsize::new(0));
    let received = Arc::new(Mutex::new(Vec::<(HeaderMap, Bytes)>::new()));
    let recorded = received.clone();
    let url = http_server::serve(move |request| {
        let is_first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        let recorded = recorded.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
            recorded.lock().unwrap().push((head.headers, body));
            let mut response = Response::new(Full::<Bytes>::default());
            *response.status_mut() = if is_first { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::NO_CONTENT };
            Ok(response)
        }
    })
    .await;
    let mut listening = site.listen(&["--json", "--count", "1", "--forward", &format!("{url}/hooks")]).await;
    let sent = site.trigger(&[]);
    let (refused, accepted) = (listening.event().await, listening.event().await);
    assert_eq!((&refused["forwardStatus"], &accepted["forwardStatus"]), (&json!(503), &json!(204)));
    assert_eq!((&refused["id"], &accepted["id"]), (&sent["id"], &sent["id"]));
    // Only an accepted event counts for --count.
    listening.end().await;
    let received = received.lock().unwrap();
    assert_eq!(received.len(), 2);
    for (headers, body) in &*received {
        assert_eq!(headers["webhook-id"], sent["id"].as_str().unwrap());
        assert!(headers.contains_key("webhook-signature") && headers.contains_key("webhook-timestamp"));
        assert_eq!(serde_json::from_slice::<Value>(body).unwrap(), sent["event"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_listener_removes_the_endpoint_of_a_killed_one_and_leaves_that_of_a_running_one() {
    let site = Site::start().await;
    let killed = site.listen(&[]).await;
    let running = site.listen(&[]).await;
    killed.signal("-KILL");
    let mut killed = killed.child;
    tokio::task::block_in_place(|| killed.wait()).unwrap();
    assert_eq!(site.endpoints().await.len(), 2);

    let next = site.listen(&[]).await;
    assert_eq!(
        next.greeting.matches("of an earlier listener that was killed is removed").count(),
        1,
        "{}",
        next.greeting
    );
    assert_eq!(site.endpoints().await.len(), 2);
    for listening in [running, next] {
        listening.signal("-TERM");
        listening.end().await;
    }
    assert_eq!(site.endpoints().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_triggered_without_a_server_is_delivered_when_one_runs() {
    let mut site = Site::start().await;
    let mut listening = site.listen(&["--json", "--count", "1"]).await;
    let server = site.server.take().unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    let sent = site.trigger(&[]);
    site.server = Some(site.launch.start(&http_client()).await.unwrap());
    assert_eq!(listening.event().await["id"], sent["id"]);
    listening.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn any_event_type_is_triggered_with_a_payload_and_listen_prints_its_type_and_id() {
    let site = Site::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invoice.json");
    std::fs::write(&file, r#"{ "number": 12, "total": 1.10 }"#).unwrap();
    let mut listening = site.listen(&["--count", "2"]).await;
    let trigger = ["trigger", "invoice.paid", "--application", &site.application, "--json", "--payload"];
    let sent = site.launch.run_command(&[&trigger[..], &[file.to_str().unwrap()]].concat()).unwrap();
    assert_eq!((&sent["eventType"], &sent["event"]["number"]), (&json!("invoice.paid"), &json!(12)));
    let shown = listening.line().await;
    assert!(shown.contains("invoice.paid") && shown.contains(sent["id"].as_str().unwrap()), "{shown}");
    assert!(shown.contains("1.10"), "the payload is sent unchanged: {shown}");

    let mut from_stdin = site.launch.command();
    from_stdin.args(trigger).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = from_stdin.spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"number":13}"#).unwrap();
    let sent: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let shown = listening.line().await;
    assert!(shown.contains(sent["id"].as_str().unwrap()) && shown.contains(r#"{"number":13}"#), "{shown}");
    listening.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_and_doctor_name_the_setting_when_deliveries_to_this_machine_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let site = Site::start_with(launch(data.path()).set("PROVIDER__ALLOW_SUBNETS", "10.0.0.0/8"), data).await;
    let mut listening = site.listen(&[]).await;
    let sent = site.trigger(&[]);
    let said = listening.hint().await;
    for part in
        [sent["id"].as_str().unwrap(), "loopback", "provider.allow_subnets", "this configuration has 10.0.0.0/8"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let doctor = site.launch.command().arg("doctor").output().unwrap();
    let found = String::from_utf8(doctor.stdout).unwrap();
    assert!(found.contains("loopback") && found.contains("provider.allow_subnets"), "{found}");
    listening.signal("-TERM");
    listening.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_and_trigger_name_a_missing_option() {
    let site = Site::start().await;
    let refusal = |arguments: &[&str]| {
        let output = site.launch.command().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = refusal(&["listen", "--application", "app_unknown"]);
    assert!(unknown.contains("app_unknown"), "{unknown}");
    let no_key =
        refusal(&["trigger", "item-status-change", "--application", "a", "--provider-url", "http://127.0.0.1:1"]);
    assert!(no_key.contains("--api-key-file"), "{no_key}");
    let status = refusal(&["trigger", "item-status-change", "--application", &site.application, "--status", "CLOSED"]);
    assert!(status.contains("--status") && status.contains("SOLD"), "{status}");
    let no_payload = refusal(&["trigger", "invoice.paid", "--application", &site.application]);
    assert!(no_payload.contains("--payload") && no_payload.contains("item-status-change"), "{no_payload}");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let list = file("list.json", "[12]");
    let no_object = refusal(&["trigger", "invoice.paid", "--application", &site.application, "--payload", &list]);
    assert!(no_object.contains("list.json is not a JSON object"), "{no_object}");
    let no_address = refusal(&["listen", "--application", &site.application, "--forward", "notaurl"]);
    assert!(no_address.contains("notaurl is not an address"), "{no_address}");

    let remote = |url: &str, application: &str, key: &str| {
        let key = file("key.txt", key);
        refusal(&["listen", "--application", application, "--provider-url", url, "--api-key-file", &key])
    };
    let unknown = remote(&site.launch.provider_url(), "app_unknown", &site.key);
    assert!(unknown.contains("no application app_unknown"), "{unknown}");
    let no_provider = http_server::serve(|_| async {
        let mut page = Response::new(Full::<Bytes>::from("<!doctype html><title>A shop</title>"));
        page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        Ok(page)
    });
    let no_provider = remote(&no_provider.await, &site.application, &site.key);
    assert!(no_provider.contains("with HTML: is this the address of the API?"), "{no_provider}");
}
