//! Errors of requests, with texts for customers.

use std::net::SocketAddr;

use crate::address::AddressRefused;
use crate::client::Response;
use crate::tls::TlsFault;

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
    /// The name servers of the host did not answer, or failed.
    #[error("the name servers of {host} did not answer: {reason}")]
    NameServers {
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
    /// An address of the host refused the connection, and no other one accepted it.
    #[error("could not connect to {host}: {address} refused the connection")]
    ConnectionRefused {
        /// The host in the URL.
        host: String,
        /// The address that refused last.
        address: SocketAddr,
    },
    /// This machine has no network, no free port or no free file descriptor.
    #[error("could not connect to {host}: {reason}")]
    LocalFault {
        /// The host in the URL.
        host: String,
        /// The error of the operating system.
        reason: String,
    },
    /// No address of the host accepted the connection.
    #[error("could not connect to {host}: {reason}")]
    Connect {
        /// The host in the URL.
        host: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The host did not accept a connection in time.
    #[error("no connection to {address} within {limit_ms} ms")]
    ConnectTimeout {
        /// IP address and port; without a connection of the client's own, what it connected through.
        address: String,
        /// The time limit.
        limit_ms: u64,
    },
    /// The proxy did not connect to the host.
    #[error("no connection through the proxy: {0}")]
    Proxy(String),
    /// The TLS handshake failed: the certificate is not trusted, or there is no common version.
    #[error("TLS failed: {0}")]
    Tls(TlsFault),
    /// The TLS handshake was not finished in time.
    #[error("no TLS handshake within {limit_ms} ms")]
    TlsTimeout {
        /// The time limit.
        limit_ms: u64,
    },
    /// The server did not accept all bytes of the request in time.
    #[error("the request was not sent completely within {limit_ms} ms")]
    SendTimeout {
        /// The time limit.
        limit_ms: u64,
    },
    /// The request was sent, and no response began in time.
    #[error("no response within {limit_ms} ms")]
    Timeout {
        /// The time limit.
        limit_ms: u64,
    },
    /// The server closed the connection before its response began.
    #[error("the connection was closed before the response was complete")]
    Closed,
    /// The connection was reset before a response began.
    #[error("the connection was reset before the response was complete")]
    Reset,
    /// The server closed the connection in the middle of the headers of its response.
    #[error("the connection was closed in the headers of the response")]
    ClosedEarly,
    /// The status and the headers of the response arrived, but not its whole body.
    #[error("{fault}")]
    Incomplete {
        /// The response with the beginning of its body.
        response: Box<Response>,
        /// Why the rest is missing.
        fault: BodyFault,
    },
    /// The server closed a reused connection before a byte of its response. It may not have read the request.
    #[error("the connection was closed before the response was complete")]
    Stale,
    /// The server sent interim responses (1xx) beyond the limit.
    #[error("too many interim (1xx) responses came before the response")]
    InterimResponses,
    /// The headers of the response exceed the limit.
    #[error("the headers of the response are too large")]
    HeaderTooLarge,
    /// The server speaks another protocol than HTTP.
    #[error("the response is not HTTP; it begins with \"{beginning}\"")]
    NotHttp {
        /// The first bytes, escaped.
        beginning: String,
    },
    /// The response is not valid HTTP.
    #[error("the response is not valid HTTP")]
    InvalidResponse,
    /// The request can't be sent unchanged.
    #[error("{0}")]
    Invalid(&'static str),
}

impl TransportError {
    /// Stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Dns { .. } | Self::NameServers { .. } => "dns",
            Self::RefusedAddress { .. } => "refused_address",
            Self::ConnectionRefused { .. } | Self::LocalFault { .. } | Self::Connect { .. } => "connect",
            Self::Proxy(_) => "proxy",
            Self::Tls(_) => "tls",
            Self::ConnectTimeout { .. }
            | Self::TlsTimeout { .. }
            | Self::SendTimeout { .. }
            | Self::Timeout { .. }
            | Self::Incomplete { fault: BodyFault::Timeout { .. }, .. } => "timeout",
            Self::Closed | Self::Reset | Self::ClosedEarly | Self::Incomplete { .. } | Self::Stale => "closed",
            Self::HeaderTooLarge => "header_too_large",
            Self::InterimResponses | Self::NotHttp { .. } | Self::InvalidResponse | Self::Invalid(_) => "invalid",
        }
    }

    /// Whether a time limit ended the request.
    pub fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::ConnectTimeout { .. }
                | Self::TlsTimeout { .. }
                | Self::SendTimeout { .. }
                | Self::Timeout { .. }
                | Self::Incomplete { fault: BodyFault::Timeout { .. }, .. }
        )
    }

    /// Whether nothing was sent because no connection was opened to an address that the client may connect to.
    pub fn is_unconnected(&self) -> bool {
        matches!(
            self,
            Self::Dns { .. }
                | Self::NameServers { .. }
                | Self::ConnectionRefused { .. }
                | Self::LocalFault { .. }
                | Self::Connect { .. }
                | Self::ConnectTimeout { .. }
                | Self::TlsTimeout { .. }
        )
    }
}

/// Why the body of a response is not complete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// The connection ended.
    #[error("the connection was closed after {}", received(*received_bytes, *expected_bytes))]
    ClosedEarly {
        /// Bytes of the body that arrived.
        received_bytes: u64,
        /// Bytes that the body was to have, if the server declared it.
        expected_bytes: Option<u64>,
    },
    /// The body did not end in time.
    #[error("the body of the response did not end within {limit_ms} ms")]
    Timeout {
        /// The time limit.
        limit_ms: u64,
    },
}

fn received(received_bytes: u64, expected_bytes: Option<u64>) -> String {
    match expected_bytes {
        Some(expected) => format!("{received_bytes} of {expected} bytes of the response body"),
        None => format!("{received_bytes} bytes of the response body"),
    }
}
