//! Certificates by host name, handshakes, and the files of a renewal.

use std::net::SocketAddr;
use std::path::Path;

use axum::Router;
use axum::routing::get;
use rcgen::{CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as ClientStream;

use super::*;
use crate::serve::{Limits, Port, serve};

const FIRST: &str = "auctions.example.com";
const SECOND: &str = "*.hooks.example.com";

/// An authority with the files of its certificates in a folder.
struct Files {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
    authority: CertificateDer<'static>,
}

impl Files {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Test");
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().der().clone();
        Files { folder: tempfile::tempdir().unwrap(), issuer: Issuer::new(params, key), authority }
    }

    /// Chain and key in PEM of a certificate that is valid from 2020 to the end of `year`.
    fn signed(&self, name: &str, year: i32) -> (String, String) {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(year, 12, 31);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A folder as certbot writes it.
    fn write_pair(&self, place: &str, (chain, key): &(String, String)) -> PathBuf {
        let place = self.place(place);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("fullchain.pem"), chain).unwrap();
        std::fs::write(place.join("privkey.pem"), key).unwrap();
        place
    }
}

fn now() -> Timestamp {
    "2026-11-26T12:00:00Z".parse().unwrap()
}

/// A server with these certificates; its address.
async fn server(certificates: &Arc<Certificates>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let surface = crate::finish(Router::new().route("/", get(|| async { "over TLS" })));
    let port = Port { listener, certificates: Some(Arc::clone(certificates)) };
    tokio::spawn(serve(port, surface, std::future::pending(), Limits::default()));
    addr
}

/// A client that trusts the authority and offers these protocols.
fn client(files: &Files, alpn: &[&str]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(files.authority.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

/// A handshake whose certificate has to be for `name`.
async fn connect(client: ClientConfig, addr: SocketAddr, name: &'static str) -> ClientStream<TcpStream> {
    let stream = TcpStream::connect(addr).await.unwrap();
    TlsConnector::from(Arc::new(client)).connect(ServerName::try_from(name).unwrap(), stream).await.unwrap()
}

async fn ask(mut stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: auctions.example.com\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // A server that closes without TLS's own end is an error.
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

fn used(certificates: &Certificates) -> Vec<i16> {
    let year = |certificate: &Certificate| certificate.not_after().to_zoned(jiff::tz::TimeZone::UTC).year();
    certificates.current().iter().map(|(_, certificate)| year(certificate)).collect()
}

#[tokio::test]
async fn each_host_name_gets_its_certificate_and_others_the_first() {
    let files = Files::new();
    let (chain, key) = files.signed(SECOND, 2031);
    std::fs::write(files.place("both.pem"), format!("{key}{chain}")).unwrap();
    let places = [files.write_pair("first", &files.signed(FIRST, 2030)), files.place("both.pem")];
    let certificates = Certificates::load(&places, now()).unwrap();
    let addr = server(&certificates).await;
    for name in [FIRST, "eu.hooks.example.com"] {
        let answer = ask(connect(client(&files, &["http/1.1"]), addr, name).await).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("over TLS"), "{answer}");
    }
    let mut unnamed = client(&files, &[]);
    unnamed.enable_sni = false;
    let stream = connect(unnamed, addr, FIRST).await;
    let first = certificates.current()[0].1.key();
    assert_eq!(stream.get_ref().1.peer_certificates().unwrap()[0], first.cert[0]);
}

#[tokio::test]
async fn a_client_that_offers_http2_gets_it() {
    let files = Files::new();
    let places = [files.write_pair("first", &files.signed(FIRST, 2030))];
    let addr = server(&Certificates::load(&places, now()).unwrap()).await;
    let mut stream = connect(client(&files, &["h2", "http/1.1"]), addr, FIRST).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    // The client's preface and an empty SETTINGS frame (RFC 9113, 3.4); the server's first frame is SETTINGS, type 4.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4);
}

#[tokio::test]
async fn a_request_without_tls_is_answered_with_the_reason() {
    let files = Files::new();
    let places = [files.write_pair("first", &files.signed(FIRST, 2030))];
    let addr = server(&Certificates::load(&places, now()).unwrap()).await;
    let answer = ask(TcpStream::connect(addr).await.unwrap()).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("https"), "{answer}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{answer}");
}

#[test]
fn a_new_certificate_is_used_and_one_that_cannot_be_used_changes_nothing() {
    let files = Files::new();
    let place = files.write_pair("first", &files.signed(FIRST, 2030));
    let certificates = Certificates::load(std::slice::from_ref(&place), now()).unwrap();
    let refused = || certificates.refused.lock().unwrap().get(&place).cloned();
    certificates.reload(now());
    assert_eq!((used(&certificates), refused()), (vec![2030], None));

    files.write_pair("first", &files.signed(FIRST, 2031));
    certificates.reload(now());
    assert_eq!((used(&certificates), refused()), (vec![2031], None));

    // Half of a pair: the chain is new, and the key is not.
    let next = files.signed(FIRST, 2032);
    std::fs::write(place.join("fullchain.pem"), &next.0).unwrap();
    certificates.reload(now());
    assert_eq!(used(&certificates), [2031]);
    assert!(refused().unwrap().contains("is not that of the certificate"), "{:?}", refused());
    std::fs::write(place.join("privkey.pem"), &next.1).unwrap();
    certificates.reload(now());
    assert_eq!((used(&certificates), refused()), (vec![2032], None));

    for (chain, why) in [("", "no certificate"), (&*files.signed(FIRST, 2025).0, "is not that of")] {
        std::fs::write(place.join("fullchain.pem"), chain).unwrap();
        certificates.reload(now());
        assert_eq!(used(&certificates), [2032]);
        assert!(refused().unwrap().contains(why), "{:?}", refused());
    }
    files.write_pair("first", &files.signed(FIRST, 2025));
    certificates.reload(now());
    assert!(refused().unwrap().contains("ended at 2025-12-31"), "{:?}", refused());
    std::fs::remove_file(place.join("privkey.pem")).unwrap();
    certificates.reload(now());
    assert_eq!(used(&certificates), [2032]);
    assert!(refused().unwrap().contains("has neither fullchain.pem"), "{:?}", refused());
}

#[test]
fn a_certificate_that_is_added_to_a_folder_of_folders_is_used_without_a_restart() {
    let files = Files::new();
    let folder = files.place("tls");
    files.write_pair("tls/b.example.com", &files.signed(FIRST, 2031));
    files.write_pair("tls/a.example.com", &files.signed(FIRST, 2030));
    std::fs::create_dir(folder.join("empty")).unwrap();
    // One that can't be read does not keep the server from starting with the others.
    let other = files.write_pair("tls/bad.example.com", &files.signed(FIRST, 2030));
    std::fs::write(other.join("privkey.pem"), &files.signed(FIRST, 2030).1).unwrap();
    let started = Certificates::load(std::slice::from_ref(&folder), now()).unwrap();
    assert_eq!((used(&started), started.refused()[0].0.clone()), (vec![2030, 2031], other.clone()));
    std::fs::remove_dir_all(other).unwrap();
    let certificates = Certificates::load(std::slice::from_ref(&folder), now()).unwrap();
    assert_eq!(used(&certificates), [2030, 2031], "by name");

    // Half a pair is no certificate yet, and one that ended is not used.
    let added = files.write_pair("tls/own.example.com", &files.signed(SECOND, 2025));
    std::fs::write(folder.join("empty/fullchain.pem"), "").unwrap();
    certificates.reload(now());
    assert_eq!(used(&certificates), [2030, 2031]);
    let refused = || certificates.refused.lock().unwrap().clone();
    assert_eq!(refused().into_keys().collect::<Vec<_>>(), [added]);
    files.write_pair("tls/own.example.com", &files.signed(SECOND, 2032));
    certificates.reload(now());
    certificates.reload(now());
    assert_eq!((used(&certificates), refused().len()), (vec![2030, 2031, 2032], 0));

    // A folder that is gone: its certificate stays in use until the next start.
    std::fs::remove_dir_all(folder.join("a.example.com")).unwrap();
    certificates.reload(now());
    assert_eq!((used(&certificates), refused().len()), (vec![2030, 2031, 2032], 1));
}

#[tokio::test]
async fn metrics_say_when_a_certificate_ends_and_whether_a_new_one_is_refused() {
    use crate::metrics::Source as _;
    let files = Files::new();
    let place = files.write_pair("first", &files.signed(FIRST, 2030));
    let certificates = Certificates::load(std::slice::from_ref(&place), now()).unwrap();
    std::fs::write(place.join("fullchain.pem"), "").unwrap();
    certificates.reload(now());
    let text = certificates.gather(&[]).await.unwrap();
    let label = format!("{{certificate=\"{}\"}}", place.display());
    let ends = "lotwire_tls_certificate_not_after_timestamp_seconds";
    assert!(text.contains(&format!("{ends}{label} 1924905600\n")), "{text}");
    assert!(text.contains(&format!("lotwire_tls_certificate_refused{label} 1\n")), "{text}");
}

#[test]
fn files_that_cannot_be_used_at_the_start_are_named() {
    let files = Files::new();
    let load = |place: &Path| Certificates::load(&[place.to_owned()], now()).err().unwrap().to_string();
    let missing = load(&files.place("none.pem"));
    assert!(missing.contains("none.pem can't be read"), "{missing}");
    // A pipe, or a file without an end, is not opened.
    let unusual = load(Path::new("/dev/zero"));
    assert!(unusual.contains("it is not a file of at most"), "{unusual}");
    let large = std::fs::File::create(files.place("large.pem")).unwrap();
    large.set_len(1 << 30).unwrap();
    let unusual = load(&files.place("large.pem"));
    assert!(unusual.contains("it is not a file of at most"), "{unusual}");
    std::fs::write(files.place("chain.pem"), files.signed(FIRST, 2030).0).unwrap();
    let no_key = load(&files.place("chain.pem"));
    assert!(no_key.contains("no private key"), "{no_key}");
}
