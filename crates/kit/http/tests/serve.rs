//! Tests of the server on a real port, with raw bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use http::{Request, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kit_http::serve::{Limits, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(20);

struct Server {
    listener_addr: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
    /// A sender for each request to `/slow` in flight, which lets it finish.
    begun: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
}

impl Server {
    async fn start(limits: Limits) -> Self {
        let (begin, begun) = mpsc::unbounded_channel();
        let slow = async move || {
            let (go_on, wait) = oneshot::channel();
            begin.send(go_on).unwrap();
            let _ = wait.await;
            "done"
        };
        let router = Router::new()
            .route("/", get(async || "ok"))
            .route("/length", post(async |body: Bytes| body.len().to_string()))
            .route("/slow", get(slow));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener_addr = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async { drop(stopped.await) };
        let ended = tokio::spawn(serve(listener, kit_http::finish(router), stopped, limits));
        Server { listener_addr, stop, ended, begun }
    }

    async fn connect(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.listener_addr).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

/// Everything that the server sends until it closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("the connection is not closed");
    // The connection may also end with a reset.
    let _ = read;
    String::from_utf8_lossy(&bytes).into_owned()
}

fn short() -> Limits {
    Limits { header_read_timeout: SHORT, body_idle_timeout: SHORT, ..Limits::default() }
}

#[tokio::test]
async fn a_request_gets_a_response() {
    let server = Server::start(Limits::default()).await;
    let answer = rest(server.connect("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
}

#[tokio::test]
async fn http_2_is_served_on_the_same_port() {
    let server = Server::start(Limits::default()).await;
    let stream = TokioIo::new(TcpStream::connect(server.listener_addr).await.unwrap());
    let (mut client, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    let request = Request::builder().uri("http://x/").body(Body::empty()).unwrap();
    let answer = client.send_request(request).await.unwrap();
    assert_eq!((answer.version(), answer.status()), (Version::HTTP_2, StatusCode::OK));
}

#[tokio::test]
async fn too_large_headers_over_http_2_get_an_error_with_a_body() {
    let server = Server::start(Limits::default()).await;
    let stream = TokioIo::new(TcpStream::connect(server.listener_addr).await.unwrap());
    let (mut client, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    let mut send = |headers: Vec<(String, String)>| {
        let request = Request::get(format!("http://{}/", server.listener_addr)).version(Version::HTTP_2);
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        client.send_request(request.body(Body::empty()).unwrap())
    };
    for (headers, expected) in [
        (vec![("x-long".to_owned(), "x".repeat(64 * 1_024))], 431),
        ((0..101).map(|number| (format!("x-{number}"), String::new())).collect(), 431),
        (vec![("x-long".to_owned(), "x".repeat(60 * 1_024))], 200),
    ] {
        let answer = send(headers).await.unwrap();
        assert_eq!(answer.status().as_u16(), expected);
        if expected == 431 {
            let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
            let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((&problem["code"], &problem["status"]), (&"headers_too_large".into(), &431.into()));
        }
    }
}

#[tokio::test]
async fn a_client_that_sends_too_slowly_is_disconnected() {
    let server = Server::start(short()).await;
    for beginning in ["", "PRI * HT", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        let answer = rest(server.connect(beginning).await).await;
        assert!(!answer.contains("200 OK"), "{beginning:?}: {answer}");
    }
    let half = "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nConnection: close\r\n\r\n1234";
    let answer = rest(server.connect(half).await).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[tokio::test]
async fn malformed_and_too_large_requests_are_rejected_and_the_next_connection_is_served() {
    let server = Server::start(Limits::default()).await;
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    let long = "x".repeat(100_000);
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n".to_owned(), "400"),
        ("\u{1}\u{2}\u{3} nonsense\r\n\r\n".repeat(4), "400"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"), "431"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n"), "431"),
    ] {
        let answer = rest(server.connect(&request).await).await;
        let beginning = &request[..20];
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{beginning:?} {status}: {answer:?}");
        // Clients expect a JSON body in every error.
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        assert!(body["code"].is_string() && body["detail"].is_string(), "{body}");
        assert!(head.contains(&format!("content-length: {}", body.to_string().len())), "{head}");
    }
    let answer = rest(server.connect("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_connection_over_the_limit_waits_until_another_closes() {
    let server = Server::start(Limits { connections_max: 1, ..Limits::default() }).await;
    let mut first = server.connect("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    let mut second = server.connect("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(
        tokio::time::timeout(SHORT, second.read_exact(&mut byte)).await.is_err(),
        "the connection limit is not enforced"
    );
    drop(first);
    assert!(rest(second).await.contains("200 OK"));
}

#[tokio::test]
async fn a_request_in_flight_at_shutdown_finishes() {
    let mut server = Server::start(Limits::default()).await;
    let stream = server.connect("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let go_on = server.begun.recv().await.unwrap();
    server.stop.send(()).unwrap();
    // A refused connection shows that the drain has begun.
    while TcpStream::connect(server.listener_addr).await.is_ok() {
        tokio::task::yield_now().await;
    }
    go_on.send(()).unwrap();
    assert!(rest(stream).await.ends_with("done"));
    tokio::time::timeout(LONG, server.ended).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_in_flight_at_the_end_of_the_drain_is_cancelled() {
    let mut server = Server::start(Limits { drain: SHORT, ..Limits::default() }).await;
    let stream = server.connect("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let go_on = server.begun.recv().await.unwrap();
    server.stop.send(()).unwrap();
    tokio::time::timeout(LONG, server.ended).await.unwrap().unwrap();
    assert!(go_on.is_closed(), "the handler was still running when serve returned");
    assert_eq!(rest(stream).await, "");
}
