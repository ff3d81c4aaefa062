//! A look at an address: what its name resolves to, until when its certificate is valid, and what it answers.

use std::net::IpAddr;

use jiff::Timestamp;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use crate::client::Response;
use crate::error::TransportError;

/// What a look at an address found.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The addresses of the host that the policy allows; empty when none was found.
    pub addresses: Vec<IpAddr>,
    /// When the server's certificate ends; none without TLS, and when the certificate was refused.
    pub certificate_ends_at: Option<Timestamp>,
    /// The response, or why there is none.
    pub outcome: Result<Response, TransportError>,
}

impl Probe {
    /// A look that found nothing but the outcome.
    pub fn of(outcome: Result<Response, TransportError>) -> Self {
        Self { addresses: Vec::new(), certificate_ends_at: None, outcome }
    }
}

/// The end of a certificate's validity.
pub(crate) fn ends_at(certificate: &[u8]) -> Option<Timestamp> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let end = certificate.tbs_certificate.validity.not_after.to_unix_duration();
    Timestamp::from_second(i64::try_from(end.as_secs()).ok()?).ok()
}
