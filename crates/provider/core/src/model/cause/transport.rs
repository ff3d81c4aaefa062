//! The causes of failures without a complete response, from the errors of the HTTP client.

use kit_outbound::{BodyFault, TlsFault, TransportError};

use super::{Cause, host};

/// The beginning of a record that contains a TLS alert, escaped as in [`TransportError::NotHttp`].
const TLS_ALERT: &str = "\\x15\\x03";

impl Cause {
    /// The cause of an attempt to call `url` that got no response, or only a part of one.
    pub fn of_transport_error(error: &TransportError, url: &str) -> Self {
        match error {
            TransportError::Dns { host, .. } => Self::NoDnsRecord { host: host.clone() },
            TransportError::NameServers { host, .. } => Self::NameServersSilent { host: host.clone() },
            TransportError::RefusedAddress { host, refused } => {
                Self::PrivateAddress { host: host.clone(), kind: refused.kind.to_owned() }
            }
            TransportError::ConnectionRefused { address, .. } => Self::Refused { address: address.to_string() },
            TransportError::Connect { reason, .. } => Self::NotConnected { reason: reason.clone(), is_local: false },
            TransportError::LocalFault { reason, .. } => Self::NotConnected { reason: reason.clone(), is_local: true },
            TransportError::ConnectTimeout { address, limit_ms } => {
                Self::ConnectTimeout { address: address.clone(), limit_ms: *limit_ms }
            }
            TransportError::Proxy(reason) => Self::Proxy { reason: reason.clone() },
            TransportError::Tls(fault) => of_tls_fault(fault, url),
            TransportError::TlsTimeout { limit_ms } => Self::TlsTimeout { limit_ms: *limit_ms },
            TransportError::SendTimeout { limit_ms } => Self::SendTimeout { limit_ms: *limit_ms },
            TransportError::Timeout { limit_ms } => Self::NoAnswer { limit_ms: *limit_ms },
            TransportError::Closed | TransportError::Reset | TransportError::Stale => match plain_port(url) {
                Some(443 | 8443) => Self::ExpectsTls { code: None },
                port => Self::Reset { is_plain: port.is_some() },
            },
            TransportError::ClosedEarly => Self::ClosedEarly { code: None, received_bytes: 0, expected_bytes: None },
            TransportError::Incomplete { response, fault } => of_body_fault(response.status.as_u16(), fault),
            TransportError::InterimResponses => Self::InterimResponses,
            TransportError::HeaderTooLarge => Self::LargeHeaders,
            TransportError::NotHttp { beginning } if beginning.starts_with(TLS_ALERT) && plain_port(url).is_some() => {
                Self::ExpectsTls { code: None }
            }
            TransportError::NotHttp { beginning } => Self::NotHttp { beginning: Some(beginning.clone()) },
            TransportError::InvalidResponse => Self::NotHttp { beginning: None },
            TransportError::Invalid(reason) => Self::OtherTransport { reason: (*reason).to_owned() },
        }
    }
}

fn of_body_fault(code: u16, fault: &BodyFault) -> Cause {
    match fault {
        BodyFault::ClosedEarly { received_bytes, expected_bytes } => {
            Cause::ClosedEarly { code: Some(code), received_bytes: *received_bytes, expected_bytes: *expected_bytes }
        }
        BodyFault::Timeout { limit_ms } => Cause::AnswerUnfinished { code, limit_ms: *limit_ms },
    }
}

/// The port of an address with `http`; none with `https`.
fn plain_port(url: &str) -> Option<u16> {
    let uri = url.parse::<http::Uri>().ok().filter(|uri| uri.scheme_str() == Some("http"))?;
    Some(uri.port_u16().unwrap_or(80))
}

fn of_tls_fault(fault: &TlsFault, url: &str) -> Cause {
    match fault {
        TlsFault::Expired { on } => Cause::CertificateExpired { on: on.clone() },
        TlsFault::NotYetValid { from } => Cause::CertificateNotYetValid { from: from.clone() },
        TlsFault::WrongName { names } => Cause::WrongName { names: names.clone(), host: host(url) },
        TlsFault::SelfSigned => Cause::SelfSigned,
        TlsFault::UnknownAuthority { issuer } => Cause::UnknownAuthority { issuer: issuer.clone() },
        TlsFault::OldVersion | TlsFault::NoCommonCipher => Cause::OldTls,
        TlsFault::NoTls => Cause::NoTls,
        TlsFault::Other(reason) => Cause::OtherTls { reason: reason.clone() },
    }
}

/// Formats milliseconds as seconds, such as `30` or `0.5`.
pub(crate) fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { (ms / 1_000).to_string() } else { format!("{}", ms as f64 / 1_000.0) }
}
