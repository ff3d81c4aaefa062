//! TLS: the trusted authorities, and error texts for failed handshakes that a receiver's operator can act on.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error, RootCertStore};

use self::certificate_fault::{ExplainingVerifier, Untrusted, date, names};

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

/// Why a handshake failed: advice, and the text of the error.
pub(crate) fn reason(error: &(dyn StdError + 'static)) -> String {
    // The error of rustls is nested in two IO errors.
    let (mut innermost, mut closed) = (error, false);
    while let Some(io_error) = innermost.downcast_ref::<io::Error>() {
        closed |= io_error.kind() == io::ErrorKind::UnexpectedEof;
        let Some(inner) = io_error.get_ref() else { break };
        innermost = inner;
    }
    let advice = match innermost.downcast_ref::<Error>() {
        Some(error) => advice(error),
        None => closed.then(|| "the receiver closed the connection during the handshake".to_owned()),
    };
    advice.unwrap_or_else(|| error.to_string())
}

/// What to tell the receiver's operator. `provider-core` reads the causes of failed attempts from these texts.
fn advice(error: &Error) -> Option<String> {
    let text = match error {
        Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            "the receiver's TLS is too old: version 1.2 or 1.3 is needed"
        }
        Error::PeerIncompatible(_) | Error::AlertReceived(AlertDescription::HandshakeFailure) => {
            "the receiver's TLS is too old, or offers no secure cipher: version 1.2 or 1.3 is needed"
        }
        Error::InvalidMessage(_) => "the receiver's response is not TLS; is it a plain http port?",
        Error::AlertReceived(AlertDescription::UnrecognisedName) => "the receiver does not know this host name",
        Error::InvalidCertificate(error) => return Some(untrusted(error)),
        _ => return None,
    };
    Some(text.to_owned())
}

fn untrusted(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the receiver's certificate expired on {}", date(*not_after))
        }
        CertificateError::Expired => "the receiver's certificate has expired".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("the receiver's certificate is not valid before {}", date(*not_before))
        }
        CertificateError::NotValidYet => "the receiver's certificate is not valid yet".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!("the receiver's certificate is for {}", names(presented))
        }
        CertificateError::NotValidForName => "the receiver's certificate is for another host name".to_owned(),
        CertificateError::Revoked => "the receiver's certificate has been revoked".to_owned(),
        CertificateError::Other(other) => match other.0.downcast_ref::<Untrusted>() {
            Some(untrusted) => untrusted.to_string(),
            None => format!("the receiver's certificate can't be trusted ({error})"),
        },
        error => format!("the receiver's certificate can't be trusted ({error})"),
    }
}
