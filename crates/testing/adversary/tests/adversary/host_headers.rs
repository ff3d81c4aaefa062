//! Ambiguous requests, which proxies and servers may read differently.

use crate::raw::exchange;
use crate::support::{Running, SALEROOM_HOST};

/// Ambiguous requests with the status of their refusal.
#[rustfmt::skip]
const AMBIGUOUS: &[(&str, &str)] = &[
    ("no Host", "GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n"),
    ("two Hosts", "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n"),
    ("the same Host twice", "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n"),
    ("a space before the colon", "GET /api/v1/health HTTP/1.1\r\nHost : x\r\nConnection: close\r\n\r\n"),
    ("a folded header", "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\nConnection: close\r\n\r\n"),
    ("a zero byte in a header", "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-A: b\0c\r\nConnection: close\r\n\r\n"),
    ("two lengths", "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\nConnection: close\r\n\r\nabcd"),
    ("a length with a sign", "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\nConnection: close\r\n\r\nabc"),
    ("a length that is no number", "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 3a\r\nConnection: close\r\n\r\nabc"),
    ("chunks that are not last", "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\nConnection: close\r\n\r\n0\r\n\r\n"),
    ("an unknown version", "GET /api/v1/health HTTP/1.9\r\nHost: x\r\nConnection: close\r\n\r\n"),
    ("no version", "GET /api/v1/health\r\n\r\n"),
];

#[tokio::test(flavor = "multi_thread")]
async fn an_ambiguous_request_is_refused() {
    let (running, salerooms) = Running::with_salerooms(&[]).await;
    for address in [running.launch.platform, running.launch.provider, salerooms] {
        for (what, request) in AMBIGUOUS {
            let answer = exchange(address, request.as_bytes()).await;
            let is_refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.0 4");
            assert!(is_refused && !answer.contains("HTTP/1.1 2"), "{what}: {answer}");
        }
    }
    for address in [running.launch.platform, running.launch.provider] {
        let clear = "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        assert!(exchange(address, clear.as_bytes()).await.starts_with("HTTP/1.1 2"));
    }
    let port = salerooms.port();
    let clear = format!("GET /robots.txt HTTP/1.1\r\nHost: {SALEROOM_HOST}:{port}\r\nConnection: close\r\n\r\n");
    assert!(exchange(salerooms, clear.as_bytes()).await.starts_with("HTTP/1.1 2"));
    println!("host_headers: {} ambiguous requests refused at three ports", AMBIGUOUS.len());
}
