//! Requests and responses over HTTP/1.1 and HTTP/2.

use axum::body::Body;
use http::{Request, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kit_http::serve::Limits;
use tokio::net::TcpStream;

use crate::fixture::{Server, rest};

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
