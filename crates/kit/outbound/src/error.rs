//! Why no response came, in words that a customer can act on.

use crate::address::AddressRefused;

/// Why a request got no complete response. Its text is shown to customers as the result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The host has no address.
    #[error("the host {host} could not be resolved: {reason}")]
    Dns {
        /// As it stands in the URL.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// The policy refuses every address that the host has.
    #[error("the host {host} is refused: {refused}")]
    RefusedAddress {
        /// As it stands in the URL.
        host: String,
        /// Why its (first) address is refused.
        refused: AddressRefused,
    },
    /// No address of the host took the connection.
    #[error("could not connect to {host}: {reason}")]
    Connect {
        /// As it stands in the URL.
        host: String,
        /// What the operating system said.
        reason: String,
    },
    /// The proxy did not lead to the host.
    #[error("no connection through the proxy: {0}")]
    Proxy(String),
    /// There is a connection, but no trust: the certificate is bad, or there is no common version.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// Not done in time.
    #[error("no {awaited} within {limit_ms} ms")]
    Timeout {
        /// What was waited for.
        awaited: &'static str,
        /// How long.
        limit_ms: u64,
    },
    /// The other side closed the connection before its response was complete.
    #[error("the connection was closed before the response was complete")]
    Closed,
    /// The other side ended a connection that had carried other requests before, and not a byte of its answer came: nobody
    /// may have looked at the request.
    #[error("the connection was closed before the response was complete")]
    Stale,
    /// The headers of the response are more than is read.
    #[error("the headers of the response are too large")]
    HeaderTooLarge,
    /// The request can't be sent as it is, or the response isn't HTTP.
    #[error("{0}")]
    Invalid(&'static str),
}

impl TransportError {
    /// Stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Dns { .. } => "dns",
            Self::RefusedAddress { .. } => "refused_address",
            Self::Connect { .. } => "connect",
            Self::Proxy(_) => "proxy",
            Self::Tls(_) => "tls",
            Self::Timeout { .. } => "timeout",
            Self::Closed | Self::Stale => "closed",
            Self::HeaderTooLarge => "header_too_large",
            Self::Invalid(_) => "invalid",
        }
    }
}
