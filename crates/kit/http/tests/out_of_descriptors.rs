//! A server whose process has no file descriptor left. The test runs itself again in a process with few of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test fails by panicking")]

use std::process::Command;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use kit_http::serve::{Limits, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

const NAME: &str = "a_server_without_descriptors_logs_it_and_serves_again_when_it_has_some";
/// Set in the process with few descriptors.
const VARIABLE: &str = "LOTWIRE_TEST_FEW_DESCRIPTORS";
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_server_without_descriptors_logs_it_and_serves_again_when_it_has_some() {
    if std::env::var_os(VARIABLE).is_some() {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run_out_and_recover());
        return;
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(NAME)
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{log}{}", String::from_utf8_lossy(&output.stderr));
    let lines = log.lines().filter(|line| line.contains("the server can't accept connections")).count();
    assert!(lines >= 1, "{log}");
}

async fn run_out_and_recover() {
    tracing_subscriber::fmt().with_writer(std::io::stdout).with_ansi(false).init();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let surface = kit_http::finish(Router::new().route("/", get(async || "ok")));
    tokio::spawn(serve(listener, surface, std::future::pending(), Limits::default()));
    // The client takes its socket first, and then all other descriptors.
    let socket = TcpSocket::new_v4().unwrap();
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    let mut client = socket.connect(addr).await.unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    // The server tries several times, each of which fails.
    assert!(answer(&mut client, Duration::from_millis(300)).await.is_none());
    drop(files);
    assert!(answer(&mut client, LONG).await.expect("the server does not recover").contains("200 OK"));
}

/// Everything that the server sends until it closes the connection; none if that takes longer than `time_max`.
async fn answer(client: &mut TcpStream, time_max: Duration) -> Option<String> {
    let mut text = String::new();
    tokio::time::timeout(time_max, client.read_to_string(&mut text)).await.ok()?.unwrap();
    Some(text)
}
