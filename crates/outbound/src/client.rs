//! The client: one request, one response, one deadline.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::RootCertStore;

use crate::address::AddressPolicy;
use crate::connector::Connector;
use crate::error::TransportError;
use crate::proxy::Proxy;
use crate::resolver::{Resolve, SystemResolver};

/// Bounds of a client that hold for all of its requests.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Which addresses are reached.
    pub policy: AddressPolicy,
    /// For name, TCP and TLS together, beside each request's own deadline.
    pub connect_timeout: Duration,
    /// An idle connection is closed after this time. Shorter than the 5 s after which common servers close it: a request
    /// that is sent just as they do fails.
    pub idle_timeout: Duration,
    /// Idle connections kept for one host and port.
    pub idle_per_host_max: usize,
    /// Status line and headers of a response, together; 8 KiB at least.
    pub response_header_bytes_max: usize,
    /// Authorities trusted beside those of the public web.
    pub extra_roots: RootCertStore,
    /// Through which requests go, if through any.
    pub proxy: Option<Proxy>,
    /// Finds the addresses of names.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for ClientConfig {
    /// Public addresses only.
    fn default() -> Self {
        Self {
            policy: AddressPolicy::public_only(Vec::new()),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(4),
            idle_per_host_max: 64,
            response_header_bytes_max: 64 * 1024,
            extra_roots: RootCertStore::empty(),
            proxy: None,
            resolver: Arc::new(SystemResolver::default()),
        }
    }
}

/// A request to send. It goes out as it is; only `Host` and `Content-Length` are added.
#[derive(Debug, Clone)]
pub struct Request {
    /// Any but CONNECT.
    pub method: Method,
    /// Absolute, `http` or `https`, without credentials.
    pub uri: Uri,
    /// None of those that steer the connection, such as `Host`, `Content-Length` or `Connection`.
    pub headers: HeaderMap,
    /// May be empty.
    pub body: Bytes,
    /// For everything from the name to the last byte of the response.
    pub deadline: Duration,
    /// At most this much of the response's body is read.
    pub response_bytes_max: usize,
}

/// What came back, whatever its status.
#[derive(Debug, Clone)]
pub struct Response {
    /// Status code; a redirect's too.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// The body, or its beginning.
    pub body: Bytes,
    /// True when the body went on beyond `response_bytes_max`.
    pub truncated: bool,
}

/// Sends requests over HTTP/1.1 and keeps connections for the next ones. Clones share the connections.
#[derive(Clone)]
pub struct Client {
    http: legacy::Client<Connector, Full<Bytes>>,
}

/// They say where a request goes and where it ends: given by a customer they could smuggle in another one.
const STEERING_HEADERS: [HeaderName; 8] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::EXPECT,
];

impl Client {
    /// A client without connections. They are made on the runtime that sends.
    pub fn new(config: ClientConfig) -> Self {
        let connector = Connector::new(&config);
        let http = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(config.idle_timeout)
            .pool_max_idle_per_host(config.idle_per_host_max)
            .http1_max_buf_size(config.response_header_bytes_max.max(8 * 1024))
            // Only requests of which nothing was written yet, on a connection that was kept: safe for every method.
            .retry_canceled_requests(true)
            .build(connector);
        Self { http }
    }

    /// Sends a request and reads the response. Dropping the future, or the deadline, closes the connection.
    pub async fn send(&self, request: Request) -> Result<Response, TransportError> {
        let Request { method, uri, headers, body, deadline, response_bytes_max } = request;
        check_sendable(&method, &uri, &headers)?;
        let mut outgoing = http::Request::new(Full::new(body));
        *outgoing.method_mut() = method;
        *outgoing.uri_mut() = uri;
        *outgoing.headers_mut() = headers;

        let exchange = async {
            let response = self.http.request(outgoing).await.map_err(|error| TransportError::from_client(&error))?;
            let (parts, incoming) = response.into_parts();
            let (body, truncated) = read(incoming, response_bytes_max).await?;
            Ok(Response { status: parts.status, headers: parts.headers, body, truncated })
        };
        match tokio::time::timeout(deadline, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => {
                Err(TransportError::Timeout { awaited: "complete response", limit_ms: deadline.as_millis() as u64 })
            }
        }
    }
}

fn check_sendable(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), TransportError> {
    if *method == Method::CONNECT {
        return Err(TransportError::Invalid("CONNECT requests are not sent"));
    }
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(TransportError::Invalid("the address must begin with http:// or https://"));
    }
    let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
        return Err(TransportError::Invalid("the address has no host"));
    };
    // Without a port that is a number, nothing but the host may be there: no credentials and no other port.
    let port_chars = authority.port().map_or(0, |port| port.as_str().len() + 1);
    if authority.as_str().len() != authority.host().len() + port_chars {
        return Err(TransportError::Invalid("the address has credentials or a port that is not valid"));
    }
    if STEERING_HEADERS.iter().any(|name| headers.contains_key(name)) {
        return Err(TransportError::Invalid("the request has a header that only the client may set"));
    }
    Ok(())
}

/// At most `bytes_max` of a body, and whether there was more. What is not read is never asked for: the connection is
/// closed instead.
async fn read(mut body: Incoming, bytes_max: usize) -> Result<(Bytes, bool), TransportError> {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut read = BytesMut::with_capacity(expected.min(bytes_max));
    loop {
        let room = bytes_max - read.len();
        // A declared length tells that there is more without waiting for it.
        if room == 0 && body.size_hint().lower() > 0 {
            return Ok((read.freeze(), true));
        }
        let Some(frame) = body.frame().await else {
            return Ok((read.freeze(), false));
        };
        let frame = frame.map_err(|error| TransportError::from_hyper(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        read.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok((read.freeze(), true));
        }
    }
}
