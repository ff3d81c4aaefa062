//! `lotwire provider tail` follows the messages and attempts of an application: from the database on both stores, and from
//! the API of a provider.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use bytes::Bytes;
use consumer::ApiClient;
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::http_server;
use crate::support::launch;

/// A provider with an application that has a working endpoint and a failing one. Retries follow after an hour.
struct Site {
    launch: Launch,
    /// None after the server was stopped.
    server: Option<Server>,
    api: ApiClient,
    key_file: PathBuf,
    /// Ids of the working and of the failing endpoint.
    endpoints: [String; 2],
    _data: tempfile::TempDir,
}

impl Site {
    async fn start(database: Option<String>) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut launch = launch(data.path()).roles(&["provider"]).set("PROVIDER__RETRY_SCHEDULE", "1h,1h");
        if let Some(database) = &database {
            launch = launch.database(database);
        }
        let server = launch.start(&http_client()).await.unwrap();
        let key = launch.create_provider_key("Hartley").unwrap();
        let key_file = data.path().join("key.txt");
        std::fs::write(&key_file, &key).unwrap();
        let api = ApiClient::new(http_client(), launch.provider_url(), &key).unwrap();
        api.post("/api/v1/app", &json!({ "name": "Customer", "uid": "customer-17" })).await.unwrap();
        let mut endpoints = Vec::new();
        for (uid, status) in [("good", StatusCode::NO_CONTENT), ("bad", StatusCode::INTERNAL_SERVER_ERROR)] {
            let url = http_server::serve(move |_| {
                let mut response = Response::new(Full::<Bytes>::default());
                *response.status_mut() = status;
                std::future::ready(Ok(response))
            })
            .await;
            let endpoint = json!({ "url": format!("{url}/{uid}"), "uid": uid });
            let endpoint = api.post("/api/v1/app/customer-17/endpoint", &endpoint).await.unwrap();
            endpoints.push(endpoint.text("/id").unwrap().to_owned());
        }
        let endpoints = endpoints.try_into().unwrap();
        Self { launch, server: Some(server), api, key_file, endpoints, _data: data }
    }

    fn command(&self, is_remote: bool, application: &str, arguments: &[&str]) -> Command {
        let mut command = self.launch.command();
        command.args(["provider", "tail", "--application", application]).args(arguments);
        if is_remote {
            command.args(["--provider-url", &self.launch.provider_url(), "--api-key-file"]).arg(&self.key_file);
        }
        command
    }

    /// Starts the command and waits until it follows the application.
    async fn tail(&self, is_remote: bool, arguments: &[&str]) -> Tail {
        let mut command = self.command(is_remote, "customer-17", arguments);
        let start = move || {
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let out = BufReader::new(child.stdout.take().unwrap());
            let mut tail = Tail { out, err: BufReader::new(child.stderr.take().unwrap()), child };
            tail.until_hint("Following");
            tail
        };
        tokio::task::spawn_blocking(start).await.unwrap()
    }

    async fn send(&self) -> String {
        let message = json!({ "eventType": "invoice.paid", "payload": {} });
        let sent = self.api.post("/api/v1/app/customer-17/msg", &message).await.unwrap();
        sent.text("/id").unwrap().to_owned()
    }
}

struct Tail {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Tail {
    fn until_hint(&mut self, part: &str) {
        let mut said = String::new();
        while !said.contains(part) {
            assert!(self.err.read_line(&mut said).unwrap() > 0, "the command ended: {said}");
        }
    }

    /// The next line of standard output.
    fn line(&mut self) -> String {
        tokio::task::block_in_place(|| {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the command ended");
            line
        })
    }

    fn row(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Ends the command as Ctrl-C does. It prints nothing more.
    fn interrupt(mut self) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        tokio::task::block_in_place(|| {
            let mut rest = String::new();
            assert_eq!(self.out.read_line(&mut rest).unwrap(), 0, "{rest}");
            assert!(self.child.wait().unwrap().success());
        });
    }
}

async fn messages_and_attempts_are_followed(database: Option<String>, is_remote: bool) {
    let site = Site::start(database).await;
    site.send().await;
    let mut all = site.tail(is_remote, &["--json"]).await;
    let mut failed = site.tail(is_remote, &["--failed"]).await;
    let mut good = site.tail(is_remote, &["--json", "--endpoint", "good"]).await;
    let sent = site.send().await;

    // The attempts at the first message may end after the command began.
    let mut rows = Vec::new();
    while rows.len() < 3 {
        let row = all.row();
        if row["id"] == *sent || row["message"] == *sent {
            rows.push(row);
        }
    }
    let of = |kind: &str, endpoint: &str| {
        let found = rows.iter().find(|row| row["kind"] == kind && (endpoint.is_empty() || row["endpoint"] == endpoint));
        found.unwrap_or_else(|| panic!("{rows:?}")).clone()
    };
    assert_eq!(of("message", "")["eventType"], "invoice.paid");
    let delivered = of("attempt", &site.endpoints[0]);
    assert_eq!((&delivered["result"], &delivered["statusCode"]), (&json!("delivered"), &json!(204)));
    assert_eq!((&delivered["eventType"], &delivered["cause"]), (&json!("invoice.paid"), &Value::Null));
    assert!(delivered["durationMs"].is_number() && delivered["url"].as_str().unwrap().ends_with("/good"));
    let refused = of("attempt", &site.endpoints[1]);
    assert_eq!((&refused["result"], &refused["cause"]), (&json!("failed"), &json!("code_failed")));

    let line = loop {
        let line = failed.line();
        if line.contains(&sent) {
            break line;
        }
    };
    assert!(line.contains("failed") && line.contains("500: The receiver's own code failed."), "{line}");
    assert!(line.contains("/bad") && line.contains("invoice.paid") && line.contains(" ms"), "{line}");
    loop {
        let row = good.row();
        assert_eq!((&row["kind"], &row["endpoint"]), (&json!("attempt"), &json!(site.endpoints[0])));
        if row["message"] == *sent {
            break;
        }
    }
    [all, failed, good].into_iter().for_each(Tail::interrupt);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_attempts_are_followed_in_the_database_of_sqlite() {
    messages_and_attempts_are_followed(None, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_attempts_are_followed_in_the_database_of_postgresql() {
    messages_and_attempts_are_followed(Some(testkit::postgres::fresh_database().await.unwrap()), false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_attempts_are_followed_through_the_api() {
    messages_and_attempts_are_followed(None, true).await;
    messages_and_attempts_are_followed(Some(testkit::postgres::fresh_database().await.unwrap()), true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tail_goes_on_after_the_provider_was_away() {
    let mut site = Site::start(None).await;
    let mut tail = site.tail(true, &["--json", "--endpoint", "good"]).await;
    let server = site.server.take().unwrap();
    assert!(tokio::task::block_in_place(|| server.stop()).unwrap().success());
    tokio::task::block_in_place(|| tail.until_hint("tries again"));
    site.server = Some(site.launch.start(&http_client()).await.unwrap());
    let sent = site.send().await;
    assert_eq!(tail.row()["message"], json!(sent));
    tokio::task::block_in_place(|| tail.until_hint("answers again"));
    tail.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_application_is_named_with_a_similar_one_and_an_unknown_endpoint_ends_the_command() {
    let site = Site::start(None).await;
    for is_remote in [false, true] {
        for (application, arguments, expected) in [
            ("custmer-17", &[][..], "similar: customer-17"),
            ("customer-17", &["--endpoint", "goof"], "no endpoint with the id or uid \"goof\""),
        ] {
            let output = site.command(is_remote, application, arguments).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && said.contains(expected), "{said}");
        }
    }
}
