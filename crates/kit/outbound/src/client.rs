//! The client: one request, one response, one deadline.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{Either, ready};
use http::{HeaderMap, Method, StatusCode};
use rustls::RootCertStore;
use tokio::time::Instant;

use crate::address::AddressPolicy;
use crate::connection::{Connection, ExchangeError};
use crate::connector::Connector;
use crate::destination::{Destination, Origin};
use crate::error::TransportError;
use crate::headers::Headers;
use crate::http1::EncodedRequest;
use crate::pool::Pool;
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
    /// that is sent just as they do is [`TransportError::Stale`].
    pub idle_timeout: Duration,
    /// Idle connections kept for one host and port: as many as may be under way there at the same time. All endpoints of a
    /// site are behind one, and what is not kept is opened anew for a later request. Those that are not needed any more
    /// go after `idle_timeout`.
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
            idle_per_host_max: 1_024,
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
    /// Where it goes.
    pub to: Destination,
    /// None of those that steer the connection, such as `Host`, `Content-Length` or `Connection`.
    pub headers: Headers,
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
    connector: Connector,
    pool: Pool,
    header_bytes_max: usize,
}

/// Over which connections a request may go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionChoice {
    /// One that is kept, or else a new one.
    Pooled,
    New,
}

impl Client {
    /// A client without connections. They are made on the runtime that sends.
    pub fn new(config: ClientConfig) -> Self {
        Self {
            connector: Connector::new(&config),
            pool: Pool::new(config.idle_timeout, config.idle_per_host_max),
            header_bytes_max: config.response_header_bytes_max.max(8 * 1024),
        }
    }

    /// Sends a request and reads the response. Its time begins now. Dropping the future, or the deadline, closes the connection.
    ///
    /// [`TransportError::Stale`] when the connection had carried others before and ended without a byte of an answer: who
    /// may send the request twice does so with [`Client::send_fresh`].
    pub fn send(&self, request: Request) -> impl Future<Output = Result<Response, TransportError>> + Send {
        self.send_over(request, ConnectionChoice::Pooled)
    }

    /// Sends a request over a connection of its own, which is kept for others afterwards. Never
    /// [`TransportError::Stale`].
    pub fn send_fresh(&self, request: Request) -> impl Future<Output = Result<Response, TransportError>> + Send {
        self.send_over(request, ConnectionChoice::New)
    }

    /// Sends a request that may arrive twice: a second time, on a fresh connection and before the same deadline, when a
    /// connection that was kept ended without a byte of an answer. `make` is given the time that is left.
    pub async fn send_idempotent(
        &self,
        deadline: Duration,
        make: impl Fn(Duration) -> Request,
    ) -> Result<Response, TransportError> {
        let began = Instant::now();
        match self.send(make(deadline)).await {
            Err(TransportError::Stale) => self.send_fresh(make(deadline.saturating_sub(began.elapsed()))).await,
            outcome => outcome,
        }
    }

    fn send_over(
        &self,
        request: Request,
        connections: ConnectionChoice,
    ) -> impl Future<Output = Result<Response, TransportError>> + Send {
        let Request { method, to, headers, body, deadline, response_bytes_max } = request;
        let encoded = match EncodedRequest::new(&method, &to, &headers, body) {
            Ok(encoded) => encoded,
            Err(error) => return Either::Left(ready(Err(error))),
        };
        let exchange = self.exchange(encoded, to, response_bytes_max, connections);
        let late =
            move |_| TransportError::Timeout { awaited: "complete response", limit_ms: deadline.as_millis() as u64 };
        Either::Right(tokio::time::timeout(deadline, exchange).map(move |outcome| outcome.map_err(late).flatten()))
    }

    /// Over idle connections, if so wanted, as long as they turn out to be closed, and then over a new one.
    #[expect(clippy::manual_async_fn, reason = "it is moved about, and an async fn would hold its parameters twice")]
    fn exchange(
        &self,
        encoded: EncodedRequest,
        to: Destination,
        response_bytes_max: usize,
        connections: ConnectionChoice,
    ) -> impl Future<Output = Result<Response, TransportError>> + Send {
        async move {
            let origin = &to.target()?.origin;
            let kept = || if connections == ConnectionChoice::Pooled { self.pool.take(origin) } else { None };
            while let Some(mut connection) = kept() {
                match connection.exchange(&encoded, response_bytes_max).await {
                    Ok(response) => return Ok(self.release(origin, connection, response)),
                    // Of this request nothing was written: safe for every method.
                    Err(ExchangeError::Unsent) => {}
                    Err(ExchangeError::NoResponse) => return Err(TransportError::Stale),
                    Err(ExchangeError::Transport(error)) => return Err(error),
                }
            }
            // Apart, as it is rare and takes room: a request over a kept connection is moved about without it.
            let mut connection = Box::pin(self.connect(origin)).await?;
            match connection.exchange(&encoded, response_bytes_max).await {
                Ok(response) => Ok(self.release(origin, connection, response)),
                Err(ExchangeError::Unsent | ExchangeError::NoResponse) => Err(TransportError::Closed),
                Err(ExchangeError::Transport(error)) => Err(error),
            }
        }
    }

    async fn connect(&self, origin: &Origin) -> Result<Connection, TransportError> {
        tracing::debug!(host = origin.host, "connecting");
        let stream = self.connector.connect(origin).await?;
        Ok(Connection::new(stream, self.header_bytes_max))
    }

    fn release(&self, origin: &Origin, connection: Connection, response: Response) -> Response {
        tracing::trace!(?origin, status = response.status.as_u16(), "answered");
        if connection.is_reusable() {
            self.pool.put(origin, connection);
        }
        response
    }
}
