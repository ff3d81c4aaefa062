//! What is wrong with a certificate that is not trusted: rustls does not say who issued it.

use std::sync::Arc;

use jiff::Timestamp;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use super::TlsFault;

/// Names of a certificate, and characters of each, that an error lists.
const NAMES_MAX: usize = 5;
const NAME_CHARS_MAX: usize = 100;

/// Accepts and refuses exactly what rustls does, and adds to the error of an unknown authority who that is.
#[derive(Debug)]
pub(super) struct ExplainingVerifier(pub(super) Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for ExplainingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        verified.map_err(|error| explain(error, end_entity))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Most self-signed test certificates are authorities, which rustls refuses before it looks for the issuer.
fn explain(error: Error, end_entity: &CertificateDer<'_>) -> Error {
    if !matches!(error, Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_))) {
        return error;
    }
    let Ok(certificate) = Certificate::from_der(end_entity) else { return error };
    let names = certificate.tbs_certificate;
    let untrusted = match &error {
        _ if names.issuer == names.subject => TlsFault::SelfSigned,
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            TlsFault::UnknownAuthority { issuer: clean(&names.issuer.to_string()) }
        }
        _ => return error,
    };
    Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(untrusted))))
}

/// The day of a certificate's limit, UTC.
pub(super) fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds)
        .map_or_else(|_| "an unknown date".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// The names of a certificate, which rustls gives in the form `DnsName("a.example")`.
pub(super) fn names(presented: &[String]) -> String {
    let bare = |name: &String| clean(name.split('"').nth(1).unwrap_or(name));
    let mut listed: Vec<String> = presented.iter().take(NAMES_MAX).map(bare).collect();
    if presented.len() > NAMES_MAX {
        listed.push(format!("{} more", presented.len() - NAMES_MAX));
    }
    if listed.is_empty() { "no host".to_owned() } else { listed.join(", ") }
}

/// A name that the issuer of the certificate wrote, as one line of limited length.
fn clean(name: &str) -> String {
    name.chars().filter(|sign| !sign.is_control()).take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_certificate_are_listed_up_to_a_limit() {
        let presented =
            |count: usize| -> Vec<String> { (0..count).map(|no| format!("DnsName(\"{no}.example\")")).collect() };
        assert_eq!(names(&presented(0)), "no host");
        assert_eq!(names(&presented(2)), "0.example, 1.example");
        assert!(names(&presented(9)).ends_with("4.example, 4 more"));
        assert_eq!(names(&["IpAddress(127.0.0.1)".to_owned()]), "IpAddress(127.0.0.1)");
    }
}
