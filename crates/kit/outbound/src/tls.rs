//! TLS: whom we trust, and why a handshake failed, in words that a receiver's operator can act on.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error, RootCertStore};

/// Why a file with certificates can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// It is no PEM, or what it holds is no certificate.
    #[error("it can't be read as certificates in PEM: {0}")]
    Unreadable(String),
    /// There is no certificate in it.
    #[error("it holds no certificate (-----BEGIN CERTIFICATE-----)")]
    Empty,
}

/// The certificates of authorities in a PEM text.
pub fn roots_from_pem(pem: &[u8]) -> Result<RootCertStore, RootsError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| RootsError::Unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| RootsError::Unreadable(error.to_string()))?;
    }
    if roots.is_empty() { Err(RootsError::Empty) } else { Ok(roots) }
}

/// TLS 1.2 and 1.3, trusting the public web's authorities and `extra_roots`.
pub(crate) fn client_config(extra_roots: RootCertStore) -> ClientConfig {
    let mut roots = extra_roots;
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    #[expect(clippy::expect_used, reason = "the compiled-in provider knows the default versions")]
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Why a handshake failed: advice, and the library's own words.
pub(crate) fn reason(error: &(dyn StdError + 'static)) -> String {
    // The library's error is within an IO error, which is within another.
    let (mut innermost, mut closed) = (error, false);
    while let Some(io_error) = innermost.downcast_ref::<io::Error>() {
        closed |= io_error.kind() == io::ErrorKind::UnexpectedEof;
        let Some(inner) = io_error.get_ref() else { break };
        innermost = inner;
    }
    let advice = match innermost.downcast_ref::<Error>() {
        Some(error) => advice(error),
        None => closed.then_some("the receiver closed the connection during the handshake"),
    };
    advice.map_or_else(|| error.to_string(), |advice| format!("{advice} ({error})"))
}

fn advice(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            "the receiver's TLS is too old: version 1.2 or 1.3 is needed"
        }
        Error::PeerIncompatible(_) | Error::AlertReceived(AlertDescription::HandshakeFailure) => {
            "the receiver's TLS is too old, or offers no cipher that is safe today: version 1.2 or 1.3 is needed"
        }
        Error::InvalidMessage(_) => "what the receiver answers is not TLS; is it a plain http port?",
        Error::AlertReceived(AlertDescription::UnrecognisedName) => "the receiver does not know this host name",
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "the receiver's certificate has expired"
        }
        Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            "the receiver's certificate is not valid yet"
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "the receiver's certificate is for another host name",
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the receiver's certificate is from an authority that is not trusted, or its intermediate certificates are missing"
        }
        // It has no word of its own for this; and a certificate that somebody made for a test is mostly one.
        Error::InvalidCertificate(CertificateError::Other(other))
            if format!("{other:?}").contains("CaUsedAsEndEntity") =>
        {
            "the receiver's certificate is self-signed: it needs one of an authority that is trusted"
        }
        Error::InvalidCertificate(CertificateError::Revoked) => "the receiver's certificate has been revoked",
        Error::InvalidCertificate(_) => "the receiver's certificate can't be trusted",
        _ => return None,
    })
}
