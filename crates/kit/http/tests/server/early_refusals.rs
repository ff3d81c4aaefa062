//! Responses to requests whose body the server does not read.

use kit_http::serve::Limits;
use tokio::io::AsyncWriteExt as _;

use crate::fixture::{LONG, Server, next_response, rest};

fn limits() -> Limits {
    Limits { discard_timeout: LONG, linger: LONG, ..Limits::default() }
}

#[tokio::test]
async fn a_client_that_sends_a_large_body_which_is_refused_reads_the_response() {
    let server = Server::start(limits()).await;
    let length = 32 * 1024 * 1024;
    let head = format!("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    let mut client = server.connect(&head).await;
    client.write_all(&vec![b'a'; length]).await.expect("the connection is reset");
    let answer = next_response(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    assert_eq!(rest(client).await, "");
}

#[tokio::test]
async fn a_connection_stays_usable_after_a_small_body_was_refused() {
    let server = Server::start(limits()).await;
    for (framing, body) in [("Content-Length: 5", "12345"), ("Transfer-Encoding: chunked", "5\r\n12345\r\n0\r\n\r\n")] {
        let mut client = server.connect(&format!("POST /nowhere HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n")).await;
        client.write_all(body.as_bytes()).await.unwrap();
        let answer = next_response(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 404") && !answer.contains("connection: close"), "{answer}");
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        assert!(next_response(&mut client).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn a_client_that_asks_before_it_sends_a_body_gets_the_refusal_without_sending_it() {
    let server = Server::start(limits()).await;
    let head = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    let mut client = server.connect(head).await;
    let answer = next_response(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn a_client_in_the_middle_of_too_large_headers_reads_the_response() {
    let server = Server::start(limits()).await;
    let mut client = server.connect("GET / HTTP/1.1\r\nHost: x\r\nX: ").await;
    client.write_all(&vec![b'a'; 8 * 1024 * 1024]).await.expect("the connection is reset");
    let answer = next_response(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 431") && answer.contains("headers_too_large"), "{answer}");
}

#[tokio::test]
async fn an_http_1_1_request_needs_exactly_one_host_header() {
    let server = Server::start(limits()).await;
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200"),
        ("GET / HTTP/1.0\r\n\r\n", "200"),
    ] {
        let answer = rest(server.connect(request).await).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) || answer.starts_with(&format!("HTTP/1.0 {status}")),
            "{request:?}: {answer}"
        );
        assert_eq!(answer.contains(r#""code":"malformed_request""#), status == "400", "{answer}");
    }
}
