//! Attacks on a port with TLS: in the handshake, and over it with HTTP/1.1 and HTTP/2.

use std::sync::Arc;

use axum::body::Body;
use http::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kit_http::serve::Limits;
use kit_http::tls::Certificates;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::fixture::{LARGE_BYTES, LONG, SHORT, Server, rest};

const NAME: &str = "auctions.example.com";

/// A server with TLS, and a client that trusts it.
struct OverTls {
    server: Server,
    client: ClientConfig,
}

impl OverTls {
    async fn start(limits: Limits) -> Self {
        let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
        params.not_after = date_time_ymd(4000, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{}{}", certificate.pem(), key.serialize_pem())).unwrap();
        let certificates = Certificates::load(&[file.path().to_owned()], jiff::Timestamp::UNIX_EPOCH).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let client = client.with_root_certificates(roots).with_no_client_auth();
        OverTls { server: Server::start_with(Some(certificates), limits).await, client }
    }

    /// A connection with this protocol.
    async fn connect(&self, protocol: &str) -> TlsStream<TcpStream> {
        let mut client = self.client.clone();
        client.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.server.listener_addr).await.unwrap();
        TlsConnector::from(Arc::new(client)).connect(ServerName::try_from(NAME).unwrap(), stream).await.unwrap()
    }
}

async fn ask(mut stream: TlsStream<TcpStream>, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("the connection is not closed");
    let _ = read;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_client_that_does_not_finish_its_handshake_is_disconnected() {
    let tls = OverTls::start(Limits { header_read_timeout: SHORT, ..Limits::default() }).await;
    // Nothing; the beginning of a handshake; one whose length promises more than there is.
    for beginning in ["", "\u{16}", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}"] {
        assert_eq!(rest(tls.server.connect(beginning).await).await, "", "{beginning:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_handshake_end_the_connection_and_not_the_server() {
    let tls = OverTls::start(Limits { header_read_timeout: SHORT, ..Limits::default() }).await;
    for bytes in
        [&[0x16, 3, 3, 0xff, 0xff][..], &[0x16, 3, 1, 0, 4, 1, 0, 0, 0], &[0x15, 3, 3, 0, 2, 2, 0], &[0x80; 4_096]]
    {
        let mut stream = TcpStream::connect(tls.server.listener_addr).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let answer = rest(stream).await;
        assert!(!answer.contains("200 OK"), "{answer}");
    }
    let answer = ask(tls.connect("http/1.1").await, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn slow_headers_and_malformed_requests_are_refused_as_without_tls() {
    let tls = OverTls::start(Limits { header_read_timeout: SHORT, linger: SHORT, ..Limits::default() }).await;
    let answer = ask(tls.connect("http/1.1").await, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").await;
    assert!(!answer.contains("200 OK"), "{answer}");
    let answer = ask(tls.connect("http/1.1").await, "GET / HTTP/9.9\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let large = format!("GET / HTTP/1.1\r\nHost: x\r\nX-Large: {}\r\n\r\n", "a".repeat(100_000));
    let answer = ask(tls.connect("http/1.1").await, &large).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_over_tls_is_disconnected() {
    let mut tls = OverTls::start(Limits { write_timeout: SHORT, ..Limits::default() }).await;
    let mut stream = tls.connect("http/1.1").await;
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    timeout(LONG, tls.server.freed.recv()).await.expect("the response is still in memory");
}

#[tokio::test]
async fn an_http_2_client_over_tls_that_takes_nothing_of_a_response_is_disconnected() {
    let mut tls = OverTls::start(Limits { write_timeout: SHORT, ..Limits::default() }).await;
    let stream = TokioIo::new(tls.connect("h2").await);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    let (mut client, connection) = builder.initial_stream_window_size(1).handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let large = Request::get("https://x/large").body(Body::empty()).unwrap();
    let response = client.send_request(large).await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    timeout(LONG, tls.server.freed.recv()).await.expect("the response is still in memory");
    drop(timeout(LONG, connection).await.expect("the connection is not closed"));
}

#[tokio::test]
async fn a_large_response_over_tls_is_complete_and_a_request_in_flight_at_shutdown_finishes() {
    let mut tls = OverTls::start(Limits::default()).await;
    let close = "HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = ask(tls.connect("http/1.1").await, &format!("GET /large {close}")).await;
    assert!(answer.len() > LARGE_BYTES, "{}", answer.len());
    let mut stream = tls.connect("http/1.1").await;
    stream.write_all(format!("GET /slow {close}").as_bytes()).await.unwrap();
    let go_on = tls.server.begun.recv().await.unwrap();
    // A handshake that is not finished does not delay the end.
    let _waiting = tls.server.connect("\u{16}").await;
    tls.server.stop.send(()).unwrap();
    go_on.send(()).unwrap();
    assert!(ask(stream, "").await.ends_with("done"));
    timeout(LONG, tls.server.ended).await.unwrap().unwrap();
}
