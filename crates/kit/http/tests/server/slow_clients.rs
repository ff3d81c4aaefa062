//! Clients that send or read too slowly.

use axum::body::Body;
use http::Request;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kit_http::serve::Limits;
use kit_runtime::backoff::pause;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::fixture::{LARGE_BYTES, LONG, SHORT, Server, next_response, rest};

/// Timeouts of requests that no test reaches.
fn long() -> Limits {
    let (discard_timeout, linger) = (SHORT, SHORT);
    Limits { header_read_timeout: LONG, body_idle_timeout: LONG, discard_timeout, linger, ..Limits::default() }
}

#[tokio::test]
async fn a_client_that_sends_its_headers_too_slowly_is_disconnected() {
    let server = Server::start(Limits { header_read_timeout: SHORT, ..long() }).await;
    for beginning in ["", "PRI * HT", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        let answer = rest(server.connect(beginning).await).await;
        assert!(!answer.contains("200 OK"), "{beginning:?}: {answer}");
    }
}

#[tokio::test]
async fn a_client_that_sends_the_headers_of_its_second_request_too_slowly_is_disconnected() {
    let server = Server::start(Limits { header_read_timeout: SHORT, ..long() }).await;
    let mut client = server.connect("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(next_response(&mut client).await.ends_with("ok"));
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").await.unwrap();
    assert!(!rest(client).await.contains("200 OK"));
}

#[tokio::test]
async fn a_client_that_stops_in_the_middle_of_a_body_is_disconnected() {
    let server = Server::start(Limits { body_idle_timeout: SHORT, ..long() }).await;
    let half = "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1234";
    let answer = rest(server.connect(half).await).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[tokio::test]
async fn a_client_that_sends_a_body_byte_by_byte_is_disconnected() {
    let server = Server::start(Limits { body_timeout: SHORT, ..long() }).await;
    let head = "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (reading, mut writing) = server.connect(head).await.into_split();
    let send = tokio::spawn(async move {
        while writing.write_all(b"1\r\na\r\n").await.is_ok() {
            pause(SHORT / 10).await;
        }
    });
    let mut first = [0; 10];
    timeout(LONG, async {
        reading.readable().await.unwrap();
        reading.try_read(&mut first).unwrap()
    })
    .await
    .expect("the body has no deadline");
    assert_eq!(&first, b"HTTP/1.1 4");
    drop(reading);
    timeout(LONG, send).await.expect("the connection is not closed").unwrap();
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected() {
    let mut server = Server::start(Limits { write_timeout: SHORT, ..long() }).await;
    let _client = server.connect("GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await;
    timeout(LONG, server.freed.recv()).await.expect("the connection is not closed");
}

#[tokio::test]
async fn a_client_that_reads_nothing_has_one_response_in_memory_however_many_requests_it_sends() {
    let mut server = Server::start(Limits { write_timeout: SHORT, ..long() }).await;
    let mut client = server.connect("").await;
    let request = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000);
    let send = async { while client.write_all(request.as_bytes()).await.is_ok() {} };
    timeout(LONG, send).await.expect("the connection is not closed");
    server.stop.send(()).unwrap();
    server.ended.await.unwrap();
    let mut responses = 0;
    while server.freed.try_recv().is_ok() {
        responses += 1;
    }
    assert_eq!(responses, 1);
}

#[tokio::test]
async fn a_client_that_reads_slowly_but_steadily_gets_the_whole_response() {
    let server = Server::start(Limits { write_timeout: SHORT, ..long() }).await;
    let stream = server.connect("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let (mut bytes, mut buffer) = (0, vec![0; LARGE_BYTES / 16]);
    let read = async {
        loop {
            stream.readable().await.unwrap();
            match stream.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(more) => bytes += more,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            pause(SHORT / 10).await;
        }
    };
    timeout(LONG, read).await.expect("the response has no end");
    assert!(bytes > LARGE_BYTES, "{bytes}");
}

/// A connection over HTTP/2 whose streams have this window.
async fn http_2(server: &Server, window: u32) -> (SendRequest<Body>, JoinHandle<hyper::Result<()>>) {
    let stream = TokioIo::new(TcpStream::connect(server.listener_addr).await.unwrap());
    let mut builder = Builder::new(TokioExecutor::new());
    let (client, connection) = builder.initial_stream_window_size(window).handshake(stream).await.unwrap();
    (client, tokio::spawn(connection))
}

fn get(path: &str) -> Request<Body> {
    Request::get(format!("http://x{path}")).body(Body::empty()).unwrap()
}

#[tokio::test]
async fn an_http_2_client_that_takes_nothing_of_a_response_is_disconnected() {
    let mut server = Server::start(Limits { write_timeout: SHORT, ..long() }).await;
    for window in [0, 1] {
        let (mut client, connection) = http_2(&server, window).await;
        let response = client.send_request(get("/large")).await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        timeout(LONG, server.freed.recv()).await.expect("the response is still in memory");
        drop(timeout(LONG, connection).await.expect("the connection is not closed"));
    }
}

#[tokio::test]
async fn an_http_2_connection_without_a_request_is_closed_and_one_with_a_request_is_not() {
    let mut server = Server::start(Limits { http2_idle_timeout: SHORT, ..long() }).await;
    let (mut client, connection) = http_2(&server, 65_535).await;
    let slow = client.send_request(get("/slow"));
    let go_on = server.begun.recv().await.unwrap();
    pause(3 * SHORT).await;
    go_on.send(()).unwrap();
    assert_eq!(slow.await.unwrap().status().as_u16(), 200);
    timeout(LONG, connection).await.expect("the connection is not closed").unwrap().unwrap();
}
