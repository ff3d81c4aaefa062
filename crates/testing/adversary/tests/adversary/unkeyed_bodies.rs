//! Bodies of callers without a key are limited, so that they do not use up the memory for callers with a key.

use std::net::SocketAddr;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::raw::exchange;
use crate::support::{Account, Running};

/// Number of forms of which only a part is sent.
const FORMS: usize = 357;
const PART_BYTES: usize = 200_000;
/// The headers that a browser sends with a form of the same site. The portal refuses other forms.
const SAME_SITE: &str = "Origin: http://x\r\nSec-Fetch-Site: same-origin\r\n";

/// The operations that accept a body from a caller without a key.
fn sign_ins(running: &Running) -> [(SocketAddr, &'static str, &'static str); 2] {
    [
        (running.launch.platform, "/api/v1/sessions", "application/json"),
        (running.launch.provider, "/app-portal/login", "application/x-www-form-urlencoded"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_forms_leave_the_memory_for_callers_with_a_key() {
    let running = Running::new(&[("REQUEST_BODIES_MIB", "16")]).await;
    let account = Account::new(&running, "keyed").await;
    let targets = sign_ins(&running);
    let mut open = Vec::new();
    for (address, path, kind) in targets {
        for _ in 0..FORMS / targets.len() + 1 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\n{SAME_SITE}Content-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n{PART_BYTES:x}\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&vec![b' '; PART_BYTES]).await;
            open.push(stream);
        }
    }
    for number in 0..20 {
        account.message(json!({ "number": number, "text": "x".repeat(200_000) })).await;
    }
    println!("unkeyed_bodies: 20 messages accepted beside {} half-sent forms", open.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_larger_than_8_kib_is_refused() {
    let running = Running::new(&[]).await;
    for (address, path, kind) in sign_ins(&running) {
        for (bytes, is_refused) in [(9_000, true), (1_000_000, true), (1_000, false)] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{SAME_SITE}Content-Type: {kind}\r\nContent-Length: {bytes}\r\n\r\n"
            );
            let answer = exchange(address, &[head.into_bytes(), vec![b'a'; bytes]].concat()).await;
            assert_eq!(answer.starts_with("HTTP/1.1 413"), is_refused, "{path} {bytes}: {answer}");
            assert!(answer.starts_with("HTTP/1.1 4"), "{path} {bytes}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_key_is_refused_before_it_is_sent() {
    let running = Running::new(&[]).await;
    for (address, path) in [(running.launch.platform, "/api/v1/customers"), (running.launch.provider, "/api/v1/app")] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 401", "{path}");
    }
}
