//! Errors of requests, with texts for customers.

use crate::address::AddressRefused;

/// Why a request got no complete response. Customers see the text as the result of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The host has no address.
    #[error("the host {host} could not be resolved: {reason}")]
    Dns {
        /// The host in the URL.
        host: String,
        /// The error of the resolver.
        reason: String,
    },
    /// The address policy refuses every address of the host.
    #[error("the host {host} is refused: {refused}")]
    RefusedAddress {
        /// The host in the URL.
        host: String,
        /// Why its (first) address is refused.
        refused: AddressRefused,
    },
    /// No address of the host accepted the connection.
    #[error("could not connect to {host}: {reason}")]
    Connect {
        /// The host in the URL.
        host: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The proxy did not connect to the host.
    #[error("no connection through the proxy: {0}")]
    Proxy(String),
    /// The TLS handshake failed: the certificate is not trusted, or there is no common version.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// The request was not finished in time.
    #[error("no {awaited} within {limit_ms} ms")]
    Timeout {
        /// What the client waited for.
        awaited: &'static str,
        /// The time limit.
        limit_ms: u64,
    },
    /// The server closed the connection before its response was complete.
    #[error("the connection was closed before the response was complete")]
    Closed,
    /// The server closed a reused connection before a byte of its response. It may not have read the request.
    #[error("the connection was closed before the response was complete")]
    Stale,
    /// The headers of the response exceed the limit.
    #[error("the headers of the response are too large")]
    HeaderTooLarge,
    /// The request can't be sent unchanged, or the response is not HTTP.
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
