//! The causes of failed deliveries. Each test sends to a receiver that fails in one way.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use kit_outbound::{AddressPolicy, Client, ClientConfig, Headers, Request, Resolve, ResolveFuture, RootCertStore};
use provider_core::Cause;
use testkit::certificates::{Authority, Identity, Validity, self_signed};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Duration of each time limit. A silent receiver stays silent for longer.
const LIMIT: Duration = Duration::from_millis(300);

/// Listens on the loopback interface and answers each connection in one way.
async fn receiver<F>(answer: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    address
}

/// Reads a part of the request, answers with these bytes, and closes.
async fn saying(bytes: &'static [u8]) -> SocketAddr {
    receiver(move |mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await
}

/// Reads a part of the request, answers with these bytes, and keeps the connection open.
async fn opening(bytes: &'static [u8]) -> SocketAddr {
    receiver(move |mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(bytes).await;
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await
}

async fn silent() -> SocketAddr {
    receiver(|mut stream| async move {
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await
}

async fn resetting() -> SocketAddr {
    receiver(|mut stream| async move {
        let _ = stream.read(&mut [0; 1]).await;
        // The operating system sends a reset when a socket with unread bytes is closed.
    })
    .await
}

async fn tls(identity: Identity) -> SocketAddr {
    let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    receiver(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let _ = acceptor.accept(stream).await;
        }
    })
    .await
}

/// Resolves `a.example` to the loopback interface, and fails for other names as the operating system does.
#[derive(Debug)]
struct Names;

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str, port: u16) -> ResolveFuture<'a> {
        let failed =
            |reason: &str| Err(std::io::Error::other(format!("failed to lookup address information: {reason}")));
        Box::pin(async move {
            match name {
                "a.example" => Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]),
                "lost.example" => failed("Temporary failure in name resolution"),
                "hanging.example" => std::future::pending().await,
                _ => failed("Name or service not known"),
            }
        })
    }
}

async fn cause(url: &str, policy: AddressPolicy, extra_roots: RootCertStore) -> Cause {
    let client = Client::new(ClientConfig {
        policy,
        connect_timeout: LIMIT,
        response_header_bytes_max: 8 * 1024,
        extra_roots,
        resolver: Arc::new(Names),
        ..ClientConfig::default()
    });
    let request = Request {
        method: Method::POST,
        to: url.parse().unwrap(),
        headers: Headers::default(),
        body: Bytes::from_static(b"{}"),
        deadline: LIMIT * 3,
        response_bytes_max: 20_000,
    };
    let error = client.send(request).await.unwrap_err();
    Cause::of_transport_error(&error, url)
}

#[tokio::test]
async fn each_way_in_which_a_receiver_fails_has_its_own_cause() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let interim: &'static [u8] = Box::leak("HTTP/1.1 103 Hints\r\n\r\n".repeat(40).into_boxed_str().into_boxed_bytes());
    let large: &'static [u8] =
        Box::leak(format!("HTTP/1.1 200 OK\r\nx: {}", "a".repeat(10_000)).into_boxed_str().into_boxed_bytes());
    for (url, code, say) in [
        ("http://b.example/".to_owned(), "no_dns_record", "b.example has no DNS record.".to_owned()),
        (
            "http://lost.example/".to_owned(),
            "name_servers_silent",
            "The name servers of lost.example don't answer.".to_owned(),
        ),
        (
            "http://hanging.example/".to_owned(),
            "name_servers_silent",
            "The name servers of hanging.example don't answer.".to_owned(),
        ),
        (format!("http://{closed}/"), "connection_refused", format!("{closed} refused the connection.")),
        (
            format!("http://{}/", resetting().await),
            "connection_reset",
            "The connection was cut before an answer came.".to_owned(),
        ),
        (
            format!("http://{}/", saying(b"").await),
            "connection_reset",
            "The connection was cut before an answer came.".to_owned(),
        ),
        (
            format!("http://{}/", silent().await),
            "no_answer",
            "The message was sent and perhaps processed, but no answer came in 0.9 s.".to_owned(),
        ),
        (format!("https://{}/", silent().await), "tls_timeout", "TLS was not finished in 0.3 s.".to_owned()),
        (
            format!("https://{}/", saying(b"HTTP/1.1 400 Bad Request\r\n\r\n").await),
            "no_tls",
            "The port speaks no TLS.".to_owned(),
        ),
        (
            format!("https://{}/", saying(b"\x15\x03\x01\x00\x02\x02\x46").await),
            "tls_version",
            "The receiver offers no TLS version from 1.2 on with a secure cipher.".to_owned(),
        ),
        (
            format!("http://{}/", saying(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour").await),
            "closed_early",
            "200: The answer broke off: 4 of 9 bytes came.".to_owned(),
        ),
        (
            format!("http://{}/", opening(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour").await),
            "answer_unfinished",
            "200: The answer began, but did not end in 0.9 s.".to_owned(),
        ),
        (
            format!("http://{}/", saying(b"\x15\x03\x03\x00\x02\x02\x32").await),
            "expects_tls",
            "The port expects TLS, and the request was sent over plain HTTP.".to_owned(),
        ),
        (
            format!("http://{}/", saying(interim).await),
            "interim_responses",
            "The receiver sent one interim status (1xx) after the other, and no answer.".to_owned(),
        ),
        (
            format!("http://{}/", saying(large).await),
            "large_headers",
            "The headers of the answer are too large.".to_owned(),
        ),
        (
            format!("http://{}/", saying(b"SSH-2.0-OpenSSH_9.6\r\n").await),
            "not_http",
            "The port speaks no HTTP: its answer begins with \"SSH-2.0-OpenSSH_9.6\\r\\n\".".to_owned(),
        ),
        (
            format!("http://{}/", saying(b"HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n").await),
            "not_http",
            "The port speaks no valid HTTP.".to_owned(),
        ),
    ] {
        let found = cause(&url, AddressPolicy::any(), RootCertStore::empty()).await;
        assert_eq!((found.code(), found.sentence()), (code, say), "{url}");
    }
    let private = cause("http://a.example/", AddressPolicy::public_only(Vec::new()), RootCertStore::empty()).await;
    assert_eq!(private.sentence(), "The address of a.example is loopback, so nothing was sent.");
}

#[tokio::test]
async fn each_fault_of_a_certificate_has_its_own_cause() {
    let authority = Authority::new("House CA").unwrap();
    let other = Authority::new("Other CA").unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.certificate().as_bytes()).unwrap()).unwrap();
    let names = ["a.example"];
    for (identity, code, say) in [
        (
            authority.server(&names, Validity::Expired).unwrap(),
            "certificate_expired",
            "The TLS certificate expired on ",
        ),
        (
            authority.server(&names, Validity::Future).unwrap(),
            "certificate_not_yet_valid",
            "The TLS certificate is not valid before ",
        ),
        (
            authority.server(&["b.example"], Validity::Now).unwrap(),
            "certificate_name",
            "The TLS certificate is for b.example, not for a.example.",
        ),
        (self_signed(&names, Validity::Now).unwrap(), "certificate_self_signed", "The TLS certificate is self-signed."),
        (
            other.server(&names, Validity::Now).unwrap(),
            "certificate_authority",
            "The issuer of the TLS certificate, CN=Other CA",
        ),
    ] {
        let url = format!("https://a.example:{}/", tls(identity).await.port());
        let found = cause(&url, AddressPolicy::any(), roots.clone()).await;
        assert_eq!(found.code(), code, "{}", found.sentence());
        assert!(found.sentence().starts_with(say), "{}", found.sentence());
    }
}
