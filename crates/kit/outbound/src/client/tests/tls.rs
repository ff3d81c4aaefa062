//! Tests of `https` with a certificate from a test authority.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::*;

const AUTHORITY: &[u8] = include_bytes!("../fixtures/authority.pem");
const SERVER: &[u8] = include_bytes!("../fixtures/server.pem");
const SERVER_KEY: &[u8] = include_bytes!("../fixtures/server-key.pem");

async fn tls_server() -> SocketAddr {
    let acceptor = acceptor();
    let serve = move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let mut head = [0; 8];
                let _ = stream.read_exact(&mut head).await;
                let _ = stream.write_all(OK).await;
                let _ = stream.shutdown().await;
            }
        }
    };
    server(serve).await.0
}

fn acceptor() -> TlsAcceptor {
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(SERVER).unwrap()],
            PrivateKeyDer::from_pem_slice(SERVER_KEY).unwrap(),
        )
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn trusting_client() -> Client {
    let mut extra_roots = RootCertStore::empty();
    extra_roots.add(CertificateDer::from_pem_slice(AUTHORITY).unwrap()).unwrap();
    Client::new(ClientConfig { policy: AddressPolicy::any(), extra_roots, ..ClientConfig::default() })
}

#[tokio::test]
async fn a_trusted_certificate_for_the_host_is_accepted() {
    let port = tls_server().await.port();
    let response = trusting_client().send(get(format_args!("https://localhost:{port}/"))).await.unwrap();
    assert_eq!(&response.body[..], b"ok");
}

#[tokio::test]
async fn an_unknown_authority_and_another_host_are_refused() {
    let port = tls_server().await.port();
    let request = || get(format_args!("https://localhost:{port}/"));
    let unknown = client(AddressPolicy::any()).send(request()).await.unwrap_err();
    assert_eq!(unknown.code(), "tls");
    assert!(unknown.to_string().contains("unknown authority"), "{unknown}");
    let other_host = trusting_client().send(get(format_args!("https://127.0.0.1:{port}/"))).await.unwrap_err();
    assert_eq!(other_host.code(), "tls");
}

#[tokio::test]
async fn a_server_without_tls_fails_with_a_timeout_or_a_tls_error() {
    let (address, _) = answering(OK, 1).await;
    let port = address.port();
    // The server waits for the end of the headers, which a TLS client never sends, so the deadline ends the request.
    let request = Request { deadline: Duration::from_millis(50), ..get(format_args!("https://localhost:{port}/")) };
    assert_eq!(trusting_client().send(request).await.unwrap_err().code(), "timeout");
    let (address, _) = server(|mut stream| async move {
        let _ = stream.write_all(OK).await;
    })
    .await;
    let port = address.port();
    assert_eq!(trusting_client().send(get(format_args!("https://localhost:{port}/"))).await.unwrap_err().code(), "tls");
}

#[tokio::test]
async fn a_handshake_is_limited_by_the_connect_timeout_and_by_the_deadline() {
    // The server waits for the end of the headers, which a TLS client never sends.
    let (address, _) = answering(OK, 1).await;
    let limit = Duration::from_millis(40);
    let config = ClientConfig { policy: AddressPolicy::any(), connect_timeout: limit, ..ClientConfig::default() };
    let error = Client::new(config).send(get(format_args!("https://{address}/"))).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("timeout", "no TLS handshake within 40 ms"));
    let request = Request { deadline: limit, ..get(format_args!("https://{address}/")) };
    let error = trusting_client().send(request).await.unwrap_err();
    assert_eq!(error.to_string(), "no TLS handshake within 40 ms");
}

#[tokio::test]
async fn the_error_says_what_to_do_about_old_or_broken_tls() {
    for (answer, part) in [
        // Alerts: protocol version, handshake failure, unknown name.
        (&b"\x15\x03\x01\x00\x02\x02\x46"[..], "too old: version 1.2 or 1.3 is needed"),
        (b"\x15\x03\x01\x00\x02\x02\x28", "offers no secure cipher"),
        (b"\x15\x03\x03\x00\x02\x02\x70", "does not know this host name"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is it a plain http port?"),
        (b"", "closed the connection during the handshake"),
    ] {
        let (address, _) = server(move |mut stream| async move {
            let mut hello = [0; 64];
            let _ = stream.read_exact(&mut hello).await;
            let _ = stream.write_all(answer).await;
            let _ = stream.shutdown().await;
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        })
        .await;
        let error =
            trusting_client().send(get(format_args!("https://localhost:{}/", address.port()))).await.unwrap_err();
        assert_eq!(error.code(), "tls", "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(crate::roots_from_pem(AUTHORITY).is_ok());
    assert!(crate::roots_from_pem(b"no certificate").is_err());
}

#[tokio::test]
async fn a_look_at_an_address_reports_its_name_and_the_end_of_its_certificate() {
    let port = tls_server().await.port();
    let probe = trusting_client().probe(get(format_args!("https://localhost:{port}/"))).await;
    assert!(probe.addresses.iter().any(|address| address.is_loopback()), "{:?}", probe.addresses);
    assert!(probe.certificate_ends_at.is_some_and(|end| end > jiff::Timestamp::UNIX_EPOCH));
    assert_eq!(probe.outcome.unwrap().status, 200);
    let unknown = client(AddressPolicy::any()).probe(get(format_args!("https://localhost:{port}/"))).await;
    assert_eq!((unknown.certificate_ends_at, unknown.outcome.unwrap_err().code()), (None, "tls"));
    let refused = client(AddressPolicy::public_only(Vec::new()));
    let refused = refused.probe(get(format_args!("https://localhost:{port}/"))).await;
    assert_eq!((refused.addresses.len(), refused.outcome.unwrap_err().code()), (0, "refused_address"));
}

/// Starts a server that answers the first request of a connection with OK if `is_kept`, and the next one with `part`,
/// after which `after` stands on the connection outside of TLS.
async fn breaking_tls(is_kept: bool, part: &'static [u8], after: &'static [u8]) -> (String, Arc<AtomicUsize>) {
    let acceptor = acceptor();
    let (address, taken) = server(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            stream.set_nodelay(true).unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut head = [0; 1_000];
            let answers = if is_kept { [OK, part].to_vec() } else { [part].to_vec() };
            for answer in answers {
                if !matches!(stream.read(&mut head).await, Ok(1..)) {
                    return;
                }
                stream.write_all(answer).await.unwrap();
                stream.flush().await.unwrap();
            }
            // The client reads the part first: rustls drops what arrives together with a fault.
            settle().await;
            stream.get_mut().0.write_all(after).await.unwrap();
        }
    })
    .await;
    (format!("https://localhost:{}/", address.port()), taken)
}

/// Not a record of TLS: rustls reports it as invalid data.
const NO_RECORD: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\r\n";

#[tokio::test]
async fn a_pooled_connection_whose_tls_breaks_before_a_response_is_stale() {
    // The second one ends the connection without a close_notify alert.
    for after in [NO_RECORD, b""] {
        let (address, taken) = breaking_tls(true, b"", after).await;
        let client = trusting_client();
        client.send(get(&address)).await.unwrap();
        let response = client.send_idempotent(|| get(&address)).await.unwrap();
        assert_eq!((&response.body[..], taken.load(Ordering::SeqCst)), (&b"ok"[..], 2));
        assert_eq!(client.send(get(&address)).await.unwrap_err(), TransportError::Stale);
    }
}

#[tokio::test]
async fn tls_that_breaks_is_not_taken_for_malformed_http() {
    let early = |received_bytes, expected_bytes| Err(BodyFault::ClosedEarly { received_bytes, expected_bytes });
    for (part, fault) in [
        (&b""[..], Ok(TransportError::Reset)),
        (b"HTTP/1.1 200 O", Ok(TransportError::ClosedEarly)),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfive!", early(5, Some(9))),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nfive!", early(5, None)),
        // Without a close_notify alert, bytes may be missing at the end.
        (b"HTTP/1.1 200 OK\r\n\r\nfive!", early(5, None)),
    ] {
        for after in [NO_RECORD, b""] {
            let (address, taken) = breaking_tls(false, part, after).await;
            let found = match trusting_client().send(get(&address)).await.unwrap_err() {
                TransportError::Incomplete { response, fault } if response.status == StatusCode::OK => Err(fault),
                other => Ok(other),
            };
            assert_eq!((&found, taken.load(Ordering::SeqCst)), (&fault, 1), "{part:?} {after:?}");
        }
    }
}
