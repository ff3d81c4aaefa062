//! A response that the server sends before it has read the body reaches the client.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::Running;

/// Larger than the socket buffers of both ends.
const LARGE_BYTES: usize = 32 << 20;

/// The head and the body of the next answer, up to where the client stops reading.
async fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        assert_ne!(stream.read_buf(&mut bytes).await.expect("the connection is reset"), 0);
    }
    String::from_utf8_lossy(&bytes).to_lowercase()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_a_large_refused_body_reads_the_refusal() {
    let (running, salerooms) = Running::with_salerooms(&[]).await;
    for (address, path, status) in [
        (salerooms, "/nowhere", "404"),
        (running.launch.platform, "/api/v1/customers", "401"),
        (running.launch.platform, "/nowhere", "404"),
        (running.launch.provider, "/api/v1/app", "401"),
        (running.launch.provider, "/nowhere", "404"),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {LARGE_BYTES}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'a'; LARGE_BYTES]).await.expect("the connection is reset");
        let answer = answer(&mut stream).await;
        assert!(answer.starts_with(&format!("http/1.1 {status}")), "{path}: {answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{path}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_refused_body_does_not_become_the_next_request() {
    let (running, salerooms) = Running::with_salerooms(&[]).await;
    let hidden = "GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n";
    for address in [running.launch.platform, running.launch.provider, salerooms] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(answer(&mut stream).await.starts_with("http/1.1 404"));
        let next = "GET /nowhere-else HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(next.as_bytes()).await.unwrap();
        let mut rest = String::new();
        stream.read_to_string(&mut rest).await.unwrap();
        assert!(!rest.contains("HTTP/1.1 200"), "the body was answered as a request: {rest}");
    }
}
