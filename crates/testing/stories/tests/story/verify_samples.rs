//! The App Portal's samples in ten languages verify a request that a provider really signed, and refuse it when it was changed
//! or is old.
//!
//! The test runs the samples whose runtime is installed, and always those of the machine that builds Lotwire: Rust, Python,
//! JavaScript and the shell. With `SAMPLES_RUN=all`, as `cargo xtask samples` sets it, every sample must run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use http::Method;
use http::StatusCode;
use kit_runtime::clock::SystemClock;
use serde_json::json;
use svix::api::{Svix, SvixOptions};
use svix::models::{ApplicationIn, EndpointIn, MessageIn};
use testkit::server::Server;
use testkit::site::http_client;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::launch;

/// A request as it arrived, byte for byte.
struct Arrived {
    id: String,
    timestamp: String,
    signature: String,
    body: Vec<u8>,
}

/// A sample, the program that it needs, and whether the test fails without that.
struct Sample {
    file: &'static str,
    program: &'static str,
    is_required: bool,
    command: fn(&Path, &Path) -> Command,
}

const SAMPLES: &[Sample] = &[
    Sample { file: "verify.py", program: "python3", is_required: true, command: |file, _| with("python3", &[], file) },
    Sample { file: "verify.mjs", program: "node", is_required: true, command: |file, _| with("node", &[], file) },
    Sample { file: "verify.sh", program: "openssl", is_required: true, command: |file, _| with("sh", &[], file) },
    Sample { file: "verify.rs", program: "cargo", is_required: true, command: |_, _| Command::new(rust_sample()) },
    Sample { file: "verify.mts", program: "tsc", is_required: false, command: typescript },
    Sample { file: "verify.go", program: "go", is_required: false, command: go },
    Sample { file: "verify.php", program: "php", is_required: false, command: |file, _| with("php", &[], file) },
    Sample { file: "verify.rb", program: "ruby", is_required: false, command: |file, _| with("ruby", &[], file) },
    Sample { file: "Verify.java", program: "javac", is_required: false, command: |file, _| with("java", &[], file) },
    Sample { file: "Verify.cs", program: "mcs", is_required: false, command: csharp },
];

#[tokio::test(flavor = "multi_thread")]
async fn every_sample_accepts_a_signed_request_and_refuses_a_changed_or_old_one() {
    let provider = SigningProvider::open().await;
    let is_all = std::env::var("SAMPLES_RUN").is_ok_and(|which| which == "all");
    let built = tempfile::tempdir().unwrap();
    for sample in SAMPLES {
        if !(is_on_path(sample.program) || is_all || sample.is_required) {
            continue;
        }
        // Compiles the sample if necessary, before the request is made and its age counts.
        (sample.command)(&folder().join(sample.file), built.path());
        let (secret, arrived) = (&provider.secret, provider.request().await);
        let run = |timestamp: &str, body: &[u8], secret: &str| {
            let mut command = (sample.command)(&folder().join(sample.file), built.path());
            command.args([&arrived.id, timestamp, &arrived.signature]).env("WEBHOOK_SECRET", secret);
            output(&mut command, body)
        };
        let body = &arrived.body;
        let late = (arrived.timestamp.parse::<i64>().unwrap() - 301).to_string();
        assert_eq!(run(&arrived.timestamp, body, secret), "valid 0", "{}", sample.file);
        let reserialised = [body, &b" "[..]].concat();
        let wrong = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        for (timestamp, body, secret) in
            [(&arrived.timestamp, &reserialised, &**secret), (&late, body, secret), (&arrived.timestamp, body, wrong)]
        {
            assert_eq!(run(timestamp, body, secret), "refused 1", "{}", sample.file);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_sends_a_request_that_a_receiver_accepts() {
    let receiver = consumer::Receiver::bind("127.0.0.1:0".parse().unwrap(), Arc::new(SystemClock)).await.unwrap();
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    receiver.set_secret(secret).unwrap();
    let mut command = with("sh", &[], &folder().join("verify.sh"));
    command.arg(receiver.url()).env("WEBHOOK_SECRET", secret);
    let [item, house, auction] = ["1", "2", "3"].map(|digit| format!("00000000-0000-7000-8000-00000000000{digit}"));
    let event = json!({ "itemUuid": item, "auctioneerUuid": house, "auctionUuid": auction, "status": "SOLD" });
    let printed = tokio::task::block_in_place(|| output(&mut command, event.to_string().as_bytes()));
    assert!(printed.ends_with(" 0"), "{printed}");
    assert_eq!(receiver.read(|record| (record.arrivals().len(), record.invalid())), (1, 0));
}

/// A provider with an endpoint.
struct SigningProvider {
    svix: Svix,
    app: String,
    secret: String,
    listener: TcpListener,
    _server: Server,
    _data: tempfile::TempDir,
}

impl SigningProvider {
    async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path()).roles(&["provider"]);
        let server = launch.start(&http_client()).await.unwrap();
        let key = launch.create_provider_key("House").unwrap();
        let options = SvixOptions { server_url: Some(launch.provider_url()), ..SvixOptions::default() };
        let svix = Svix::new(key, Some(options));
        let app = svix.application().create(ApplicationIn::new("Hammer & Sons".into()), None).await.unwrap().id;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let endpoint = svix.endpoint().create(app.clone(), EndpointIn::new(url), None).await.unwrap().id;
        let secret = svix.endpoint().get_secret(app.clone(), endpoint).await.unwrap().key;
        Self { svix, app, secret, listener, _server: server, _data: data }
    }

    /// Sends a message and returns the request that the endpoint receives.
    async fn request(&self) -> Arrived {
        let message = MessageIn::new("ITEM_STATUS_CHANGE".into(), json!({ "status": "SOLD", "title": "Größe" }));
        self.svix.message().create(self.app.clone(), message, None).await.unwrap();
        arrival(&self.listener).await
    }
}

/// Reads one request and answers it.
async fn arrival(listener: &TcpListener) -> Arrived {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    let mut part = [0; 4_096];
    loop {
        let count = stream.read(&mut part).await.unwrap();
        assert!(count > 0, "the request ended early");
        bytes.extend_from_slice(&part[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let header = |wanted: &str| {
            let found = head.lines().filter_map(|line| line.split_once(": ")).find(|(name, _)| *name == wanted);
            found.map_or_else(String::new, |(_, value)| value.to_owned())
        };
        let length: usize = header("content-length").parse().unwrap();
        if bytes.len() < end + 4 + length {
            continue;
        }
        assert!(head.starts_with(Method::POST.as_str()));
        let answer =
            format!("HTTP/1.1 {} OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", StatusCode::OK.as_u16());
        stream.write_all(answer.as_bytes()).await.unwrap();
        return Arrived {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
            body: bytes[end + 4..].to_vec(),
        };
    }
}

/// What the command printed, and its exit code.
fn output(command: &mut Command, body: &[u8]) -> String {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, body).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    format!("{printed}{errors} {}", output.status.code().unwrap_or(-1))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../provider/pages/verify")
}

fn with(program: &str, words: &[&str], file: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(words).arg(file);
    command
}

/// The example that cargo built beside this test.
fn rust_sample() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let sample = test.parent().and_then(Path::parent).unwrap().join("examples/verify");
    if !sample.exists() {
        // A run of this test alone builds no example.
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let built = build.args(["build", "--quiet", "-p", "stories", "--example", "verify"]).status().unwrap();
        assert!(built.success());
    }
    sample
}

fn go(file: &Path, built: &Path) -> Command {
    let program = built.join("verify-go");
    if !program.exists() {
        let mut compiler = with("go", &["build", "-o"], &program);
        let compiled = compiler.arg(file).env("GOCACHE", built.join("go")).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    }
    Command::new(program)
}

/// Debian's compiler has no types of Node.js; it reports that and compiles the file all the same.
fn typescript(file: &Path, built: &Path) -> Command {
    let out = built.join("typescript");
    if out.join("verify.mjs").exists() {
        return with("node", &[], &out.join("verify.mjs"));
    }
    let mut compiler = with("tsc", &["--target", "es2022", "--module", "es2022", "--moduleResolution", "node"], file);
    let compiled = compiler.arg("--outDir").arg(&out).output().unwrap();
    assert!(out.join("verify.mjs").exists(), "{}", String::from_utf8_lossy(&compiled.stdout));
    with("node", &[], &out.join("verify.mjs"))
}

fn csharp(file: &Path, built: &Path) -> Command {
    let program = built.join("Verify.exe");
    if !program.exists() {
        let compiled = with("mcs", &[], file).arg(format!("-out:{}", program.display())).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    }
    with("mono", &[], &program)
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}
