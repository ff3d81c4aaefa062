//! TLS: the trusted authorities, and the faults of failed handshakes.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error, RootCertStore};

use self::certificate_fault::{ExplainingVerifier, date, names};

mod certificate_fault;

/// Why a certificate file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// The file is not PEM, or a certificate in it is malformed.
    #[error("the file does not contain certificates in PEM: {0}")]
    Unreadable(String),
    /// The file contains no certificate.
    #[error("the file contains no certificate (-----BEGIN CERTIFICATE-----)")]
    Empty,
}

/// The certificate authorities in a PEM file.
pub fn roots_from_pem(pem: &[u8]) -> Result<RootCertStore, RootsError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| RootsError::Unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| RootsError::Unreadable(error.to_string()))?;
    }
    if roots.is_empty() { Err(RootsError::Empty) } else { Ok(roots) }
}

/// TLS 1.2 and 1.3, with the public authorities and `extra_roots` as trusted ones.
pub(crate) fn client_config(extra_roots: RootCertStore) -> ClientConfig {
    let mut roots = extra_roots;
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    #[expect(clippy::expect_used, reason = "the compiled-in roots are not empty")]
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .build()
        .expect("there are roots");
    #[expect(clippy::expect_used, reason = "the compiled-in provider knows the default versions")]
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring supports TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(ExplainingVerifier(verifier)))
        .with_no_client_auth()
}

/// Why a TLS handshake failed. The text tells the receiver's operator what to correct.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The certificate has expired.
    #[error("the receiver's certificate {}", on.as_ref().map_or("has expired".to_owned(), |on| format!("expired on {on}")))]
    Expired {
        /// The day, such as `2026-01-31`, if it is known.
        on: Option<String>,
    },
    /// The certificate begins in the future.
    #[error("the receiver's certificate is not valid {}", from.as_ref().map_or("yet".to_owned(), |from| format!("before {from}")))]
    NotYetValid {
        /// The day, such as `2026-01-31`, if it is known.
        from: Option<String>,
    },
    /// The certificate is for other names.
    #[error("the receiver's certificate is for {names}")]
    WrongName {
        /// The names of the certificate.
        names: String,
    },
    /// The certificate is its own issuer.
    #[error("the receiver's certificate is self-signed")]
    SelfSigned,
    /// No trusted authority issued the certificate.
    #[error(
        "the receiver's certificate is from the unknown authority {issuer}, or its intermediate certificates are missing"
    )]
    UnknownAuthority {
        /// Its issuer, as the certificate names it.
        issuer: String,
    },
    /// The receiver has no TLS version from 1.2 on.
    #[error("the receiver's TLS is too old: version 1.2 or 1.3 is needed")]
    OldVersion,
    /// There is no common version or cipher.
    #[error("the receiver's TLS is too old, or offers no secure cipher: version 1.2 or 1.3 is needed")]
    NoCommonCipher,
    /// The response is not TLS.
    #[error("the receiver's response is not TLS; is it a plain http port?")]
    NoTls,
    /// Any other fault.
    #[error("{0}")]
    Other(String),
}

/// Why a handshake failed.
pub(crate) fn fault(error: &(dyn StdError + 'static)) -> TlsFault {
    // The error of rustls is nested in two IO errors.
    let (mut innermost, mut closed) = (error, false);
    while let Some(io_error) = innermost.downcast_ref::<io::Error>() {
        closed |= io_error.kind() == io::ErrorKind::UnexpectedEof;
        let Some(inner) = io_error.get_ref() else { break };
        innermost = inner;
    }
    let fault = match innermost.downcast_ref::<Error>() {
        Some(error) => fault_of_rustls(error),
        None => closed.then(|| other("the receiver closed the connection during the handshake")),
    };
    fault.unwrap_or_else(|| TlsFault::Other(error.to_string()))
}

fn fault_of_rustls(error: &Error) -> Option<TlsFault> {
    Some(match error {
        Error::AlertReceived(AlertDescription::ProtocolVersion) => TlsFault::OldVersion,
        Error::PeerIncompatible(_) | Error::AlertReceived(AlertDescription::HandshakeFailure) => {
            TlsFault::NoCommonCipher
        }
        Error::InvalidMessage(_) => TlsFault::NoTls,
        Error::AlertReceived(AlertDescription::UnrecognisedName) => other("the receiver does not know this host name"),
        Error::InvalidCertificate(error) => untrusted(error),
        _ => return None,
    })
}

fn untrusted(error: &CertificateError) -> TlsFault {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => TlsFault::Expired { on: Some(date(*not_after)) },
        CertificateError::Expired => TlsFault::Expired { on: None },
        CertificateError::NotValidYetContext { not_before, .. } => {
            TlsFault::NotYetValid { from: Some(date(*not_before)) }
        }
        CertificateError::NotValidYet => TlsFault::NotYetValid { from: None },
        CertificateError::NotValidForNameContext { presented, .. } => TlsFault::WrongName { names: names(presented) },
        CertificateError::NotValidForName => TlsFault::WrongName { names: "another host name".to_owned() },
        CertificateError::Revoked => other("the receiver's certificate has been revoked"),
        error => match explained(error) {
            Some(fault) => fault.clone(),
            None => TlsFault::Other(format!("the receiver's certificate can't be trusted ({error})")),
        },
    }
}

/// The fault that [`ExplainingVerifier`] found.
fn explained(error: &CertificateError) -> Option<&TlsFault> {
    let CertificateError::Other(other) = error else { return None };
    other.0.downcast_ref()
}

fn other(text: &str) -> TlsFault {
    TlsFault::Other(text.to_owned())
}
