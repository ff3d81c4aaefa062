//! The HTTP client: one request, one response, one deadline.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, FutureExt as _, ready};
use http::{HeaderMap, Method, StatusCode};
use rustls::RootCertStore;
use tokio::time::Instant;

use crate::address::AddressPolicy;
use crate::connection::{Connection, ExchangeError};
use crate::connector::Connector;
use crate::destination::{Destination, Origin};
use crate::error::TransportError;
use crate::exchange::PreparedRequest;
use crate::headers::Headers;
use crate::phase_times::{PhaseTimer, PhaseTimes};
use crate::pool::Pool;
use crate::probe::{self, Probe};
use crate::proxy::Proxy;
use crate::resolver::{Resolve, SystemResolver};
use crate::time_limit::TimeLimit;

/// Configuration of a client, for all of its requests.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Addresses that the client may connect to.
    pub policy: AddressPolicy,
    /// Time for the name lookup, TCP and TLS together, within each request's deadline.
    pub connect_timeout: Duration,
    /// Time after which an idle connection is closed. Shorter than the 5 s of common servers: a request that is sent
    /// while the server closes the connection fails with [`TransportError::Stale`].
    pub idle_timeout: Duration,
    /// Idle connections kept for one host and port. As many as there are concurrent requests to one host: many
    /// endpoints share a host, and each connection that is not kept has to be opened again.
    pub idle_per_host_max: usize,
    /// Maximum bytes of a response's status line and headers; at least 8 KiB.
    pub response_header_bytes_max: usize,
    /// Trusted certificate authorities in addition to the public ones.
    pub extra_roots: RootCertStore,
    /// The proxy, if requests go through one.
    pub proxy: Option<Proxy>,
    /// Resolves names to addresses.
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

/// A request. The client sends it unchanged and adds only `Host` and `Content-Length`, and `Connection: keep-alive` after
/// a response of HTTP/1.0 on the same connection.
#[derive(Debug, Clone)]
pub struct Request {
    /// Any method but CONNECT.
    pub method: Method,
    /// The destination.
    pub to: Destination,
    /// Headers, without those that control the connection, such as `Host`, `Content-Length` or `Connection`.
    pub headers: Headers,
    /// The body; may be empty.
    pub body: Bytes,
    /// Time from the name lookup to the last byte of the response.
    pub deadline: Duration,
    /// Maximum bytes of the response's body that are read.
    pub response_bytes_max: usize,
}

/// A response of any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code. A redirect is returned, not followed.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// The body, or its beginning.
    pub body: Bytes,
    /// True when the body was longer than `response_bytes_max`.
    pub truncated: bool,
}

/// The outcome of a request, and the time of each of its phases.
#[derive(Debug)]
pub struct Exchange {
    /// The response, or why there is none.
    pub outcome: Result<Response, TransportError>,
    /// The time of each phase.
    pub times: PhaseTimes,
}

impl Exchange {
    /// The outcome of a request whose phases were not measured.
    pub fn untimed(outcome: Result<Response, TransportError>) -> Self {
        Self { outcome, times: PhaseTimes::default() }
    }
}

/// Sends requests over HTTP/1.1 and pools the connections. Clones share the pool.
#[derive(Clone)]
pub struct Client {
    connector: Connector,
    pool: Pool,
    header_bytes_max: usize,
}

/// Which connection a request uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionChoice {
    /// A pooled one, or a new one if there is none.
    Pooled,
    New,
}

impl Client {
    /// A client without connections. It opens them on the runtime of the caller.
    pub fn new(config: ClientConfig) -> Self {
        Self {
            connector: Connector::new(&config),
            pool: Pool::new(config.idle_timeout, config.idle_per_host_max),
            header_bytes_max: config.response_header_bytes_max.max(8 * 1024),
        }
    }

    /// Sends a request and reads the response. The deadline starts with this call. Dropping the future, or reaching the
    /// deadline, closes the connection; the error names the step in which it was reached.
    ///
    /// [`TransportError::Stale`] when a pooled connection ended before a byte of the response: a caller that may send
    /// the request twice calls [`Client::send_fresh`].
    pub fn send(&self, request: Request) -> impl Future<Output = Result<Response, TransportError>> + Send {
        self.send_timed(request).map(|exchange| exchange.outcome)
    }

    /// As [`Client::send`], and measures the phases.
    pub fn send_timed(&self, request: Request) -> impl Future<Output = Exchange> + Send {
        self.send_over(request, ConnectionChoice::Pooled, Duration::ZERO)
    }

    /// Sends a request over a new connection, which is pooled afterwards. `spent` of its deadline has passed already.
    /// Never [`TransportError::Stale`].
    pub fn send_fresh(&self, request: Request, spent: Duration) -> impl Future<Output = Exchange> + Send {
        self.send_over(request, ConnectionChoice::New, spent)
    }

    /// Sends a request that may arrive twice. If a pooled connection ends before a byte of the response, the client
    /// sends it again over a new connection, within the same deadline.
    pub async fn send_idempotent(&self, make: impl Fn() -> Request) -> Result<Response, TransportError> {
        let began = Instant::now();
        match self.send(make()).await {
            Err(TransportError::Stale) => self.send_fresh(make(), began.elapsed()).await.outcome,
            outcome => outcome,
        }
    }

    fn send_over(
        &self,
        request: Request,
        connections: ConnectionChoice,
        spent: Duration,
    ) -> impl Future<Output = Exchange> + Send {
        let Request { method, to, headers, body, deadline, response_bytes_max } = request;
        let prepared = match PreparedRequest::new(method, &to, headers, body) {
            Ok(prepared) => prepared,
            Err(error) => return Either::Left(ready(Exchange::untimed(Err(error)))),
        };
        let now = Instant::now();
        let limit = TimeLimit::since(now.checked_sub(spent).unwrap_or(now), deadline);
        Either::Right(self.exchange(prepared, to, response_bytes_max, connections, limit))
    }

    /// Tries pooled connections, unless a new one is required, until one is open; then a new one.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn would store its parameters twice in a future that is \
    moved"
    )]
    fn exchange(
        &self,
        prepared: PreparedRequest,
        to: Destination,
        response_bytes_max: usize,
        connections: ConnectionChoice,
        limit: TimeLimit,
    ) -> impl Future<Output = Exchange> + Send {
        async move {
            let mut timer = PhaseTimer::default();
            let outcome = async {
                let origin = &to.target()?.origin;
                let kept = || if connections == ConnectionChoice::Pooled { self.pool.take(origin) } else { None };
                while let Some(mut connection) = kept() {
                    match connection.exchange(&prepared, response_bytes_max, limit, &mut timer).await {
                        Ok(response) => return Ok(self.release(origin, connection, response)),
                        // Nothing of the request was written: safe for every method.
                        Err(ExchangeError::Unsent(_)) => timer = PhaseTimer::default(),
                        Err(ExchangeError::NoResponse(_)) => return Err(TransportError::Stale),
                        Err(ExchangeError::Transport(error)) => return Err(error),
                    }
                }
                // Boxed, because connecting is rare and its future is large.
                let mut connection = Box::pin(self.connect(origin, limit, &mut timer)).await?;
                match connection.exchange(&prepared, response_bytes_max, limit, &mut timer).await {
                    Ok(response) => Ok(self.release(origin, connection, response)),
                    Err(ExchangeError::Unsent(end) | ExchangeError::NoResponse(end)) => Err(end.into()),
                    Err(ExchangeError::Transport(error)) => Err(error),
                }
            }
            .await;
            Exchange { outcome, times: timer.finish() }
        }
    }

    /// Sends a request over a new connection and reports what its name and its certificate are. The name is resolved twice:
    /// for the report, and by the connector, which checks every address that it connects to.
    pub async fn probe(&self, request: Request) -> Probe {
        let Request { method, to, headers, body, deadline, response_bytes_max } = request;
        let mut probe = Probe::of(Err(TransportError::Closed));
        let limit = TimeLimit::since(Instant::now(), deadline);
        let look = async {
            let prepared = PreparedRequest::new(method, &to, headers, body)?;
            let origin = &to.target()?.origin;
            probe.addresses = self.connector.look_up(origin, limit).await?;
            let mut timer = PhaseTimer::default();
            let stream = self.connector.connect(origin, limit, &mut timer).await?;
            probe.certificate_ends_at = stream.certificate().and_then(probe::ends_at);
            let mut connection = Connection::new(stream, self.header_bytes_max).await?;
            match connection.exchange(&prepared, response_bytes_max, limit, &mut timer).await {
                Ok(response) => Ok(response),
                Err(ExchangeError::Unsent(end) | ExchangeError::NoResponse(end)) => Err(end.into()),
                Err(ExchangeError::Transport(error)) => Err(error),
            }
        };
        let outcome = look.await;
        Probe { outcome, ..probe }
    }

    async fn connect(
        &self,
        origin: &Origin,
        limit: TimeLimit,
        timer: &mut PhaseTimer,
    ) -> Result<Connection, TransportError> {
        tracing::debug!(host = origin.host, "opening a connection");
        let stream = self.connector.connect(origin, limit, timer).await?;
        Connection::new(stream, self.header_bytes_max).await
    }

    fn release(&self, origin: &Origin, connection: Connection, response: Response) -> Response {
        tracing::trace!(?origin, status = response.status.as_u16(), "received a response");
        if connection.is_reusable() {
            self.pool.put(origin, connection);
        }
        response
    }
}
