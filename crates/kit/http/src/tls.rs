//! TLS by the server itself: certificates by host name, read again while the server runs.
//!
//! [`Certificates`] holds the certificates of a process. A handshake uses the first one that is for the host name that the client
//! asks for (SNI), or the first of all. [`Certificates::reload`] reads the files again; a file that can't be used changes nothing.
//!
//! TLS 1.2 and 1.3, with HTTP/2 and HTTP/1.1 by ALPN.

mod certificate;
mod metrics;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rustls::ServerConfig;
use rustls::pki_types::ServerName;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use self::certificate::{Certificate, CertificateError};

/// Time before its end from which a certificate is logged as ending.
pub const ENDS_SOON: SignedDuration = SignedDuration::from_hours(14 * 24);
/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;
/// The answer to a request without TLS.
const PLAIN_ANSWER: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 52\r\n\
    Connection: close\r\n\r\nThis port speaks TLS. Begin the address with https.\n";

/// The certificates of a process.
#[derive(Debug)]
pub struct Certificates {
    /// The places of the configuration, in its order.
    configured: Vec<PathBuf>,
    places: RwLock<Vec<Arc<Place>>>,
    /// Why the present files of a place are not used.
    refused: Mutex<BTreeMap<PathBuf, String>>,
}

/// A place with the certificate that was last read there.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    current: RwLock<Arc<Certificate>>,
}

impl Certificates {
    /// Reads the certificates. A place is a PEM file with a certificate chain and its key, a folder with `fullchain.pem` and
    /// `privkey.pem`, or with `tls.crt` and `tls.key`, or a folder of such folders. In a folder of folders, a certificate that can't be
    /// read is left out while another one can. An expired certificate is read, with a warning in the log.
    pub fn load(configured: &[PathBuf], now: Timestamp) -> Result<Arc<Self>, CertificateError> {
        let certificates =
            Self { configured: configured.to_vec(), places: RwLock::default(), refused: Mutex::default() };
        for place in configured {
            certificates.load_place(place, now)?;
        }
        Ok(Arc::new(certificates))
    }

    fn load_place(&self, configured: &Path, now: Timestamp) -> Result<(), CertificateError> {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        for path in certificate::places_in(configured) {
            match Certificate::read(&path) {
                Ok(certificate) => found.push((path, certificate)),
                Err(error) => unreadable.push((path, error)),
            }
        }
        if found.is_empty()
            && let Some((_, error)) = unreadable.pop()
        {
            return Err(error);
        }
        for (path, error) in unreadable {
            self.refuse(&path, &error);
        }
        for (path, certificate) in found {
            if let Err(error) = certificate.require_valid(now) {
                tracing::warn!(certificate = %path.display(), %error, "clients refuse the certificate");
            }
            let place = Place { path, current: RwLock::new(Arc::new(certificate)) };
            self.places.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(place));
        }
        Ok(())
    }

    /// The places whose present files are not used, and why.
    pub fn refused(&self) -> Vec<(PathBuf, String)> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().map(|(path, why)| (path.clone(), why.clone())).collect()
    }

    /// Reads all places again, and those that were added to a folder of folders. A certificate that can't be read, does not fit its
    /// key, or is not valid now, is logged once; the one before it stays. Handshakes under way keep the certificate with which they
    /// began.
    pub fn reload(&self, now: Timestamp) {
        let known = self.places();
        for place in &known {
            self.reload_place(place, now);
        }
        let is_new = |path: &PathBuf| known.iter().all(|place| place.path != *path);
        for path in self.configured.iter().flat_map(|place| certificate::places_in(place)).filter(is_new) {
            match read_valid(&path, now) {
                Ok(certificate) => {
                    self.accept(&path, &certificate);
                    let place = Place { path, current: RwLock::new(Arc::new(certificate)) };
                    self.places.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(place));
                }
                Err(error) => self.refuse(&path, &error),
            }
        }
    }

    /// What handshakes use now, with the place of each.
    pub fn current(&self) -> Vec<(PathBuf, Arc<Certificate>)> {
        self.places().iter().map(|place| (place.path.clone(), place.current())).collect()
    }

    fn places(&self) -> Vec<Arc<Place>> {
        self.places.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reload_place(&self, place: &Place, now: Timestamp) {
        let before = place.current();
        match Certificate::read(&place.path) {
            Ok(read) if read.is_same(&before) => {
                self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(&place.path);
            }
            _ => match read_valid(&place.path, now) {
                Ok(read) => {
                    self.accept(&place.path, &read);
                    *place.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(read);
                }
                Err(error) => self.refuse(&place.path, &error),
            },
        }
    }

    fn accept(&self, path: &Path, certificate: &Certificate) {
        tracing::info!(certificate = %path.display(), until = %certificate.not_after(), "a new certificate is in use");
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    fn refuse(&self, path: &Path, error: &CertificateError) {
        let error = error.to_string();
        let before = self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), error.clone());
        if before.as_ref() != Some(&error) {
            tracing::error!(
                certificate = %path.display(),
                %error,
                "the certificate can't be used; one that was read before stays in use"
            );
        }
    }

    /// Accepts TLS with these certificates.
    pub(crate) fn acceptor(self: &Arc<Self>) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        #[expect(clippy::expect_used, reason = "the compiled-in provider knows the default versions")]
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring supports TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(ByHostName(Arc::clone(self))));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Place {
    fn current(&self) -> Arc<Certificate> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn read_valid(path: &Path, now: Timestamp) -> Result<Certificate, CertificateError> {
    let read = Certificate::read(path)?;
    read.require_valid(now)?;
    Ok(read)
}

/// Chooses the certificate of a handshake.
#[derive(Debug)]
struct ByHostName(Arc<Certificates>);

impl ResolvesServerCert for ByHostName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().and_then(|name| ServerName::try_from(name).ok());
        let is_for = |place: &&Arc<Place>| name.as_ref().is_some_and(|name| place.current().is_for(name));
        let places = self.0.places();
        let chosen = places.iter().find(is_for).or(places.first())?;
        Some(chosen.current().key())
    }
}

/// Performs the handshake of a connection; none when it fails or takes longer than `time_max`. A request without TLS gets an
/// answer that says so.
pub(crate) async fn accept(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    time_max: Duration,
) -> Option<TlsStream<TcpStream>> {
    let handshake = async {
        let mut first = [0];
        if stream.peek(&mut first).await.is_ok_and(|read| read == 1) && first[0] != HANDSHAKE {
            answer_plainly(stream).await;
            return None;
        }
        match acceptor.accept(stream).await {
            Ok(stream) => Some(stream),
            Err(error) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
        }
    };
    tokio::time::timeout(time_max, handshake).await.ok().flatten()
}

async fn answer_plainly(mut stream: TcpStream) {
    let _ = stream.write_all(PLAIN_ANSWER).await;
    let _ = stream.shutdown().await;
    // Closing with unread bytes would reset the connection before the client has read the answer.
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

#[cfg(test)]
mod tests;
