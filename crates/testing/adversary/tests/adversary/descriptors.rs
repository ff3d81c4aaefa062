//! A server without a free file descriptor logs a few lines, not one for each connection, and serves again later.

use std::process::Command;

use serde_json::Value;
use tokio::net::TcpStream;

use crate::support::{Running, launch, wait_until};

/// File descriptors of the process: more than it has open, and fewer than the connections.
const DESCRIPTORS: usize = 120;
const CONNECTIONS: usize = 200;
/// What the server logs.
const MESSAGE: &str = "can't accept connections";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_file_descriptors_logs_it_and_serves_again() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let running = Running::of(launch(data.path()).trace_to(&log), data).await;
    let limit = format!("--nofile={DESCRIPTORS}:{DESCRIPTORS}");
    let limited = Command::new("prlimit").args(["--pid", &running.server.id().to_string(), &limit]).status().unwrap();
    assert!(limited.success());
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(TcpStream::connect(running.launch.platform).await.unwrap());
    }
    let lines = || {
        let text = std::fs::read(&log).unwrap();
        String::from_utf8_lossy(&text).lines().filter(|line| line.contains(MESSAGE)).count()
    };
    wait_until("the line in the log", async || lines() > 0).await;
    drop(clients);
    let health = async || running.platform().plain("get", "/api/v1/health", "", &Value::Null).await.status;
    wait_until("the server to serve again", async || health().await == 200).await;
    let lines = lines();
    assert!(lines < 5, "{lines} lines for {CONNECTIONS} connections");
    println!("descriptors: {CONNECTIONS} connections, {lines} lines in the log");
}
