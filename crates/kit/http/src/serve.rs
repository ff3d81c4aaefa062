//! Serves a surface over HTTP/1.1 and cleartext HTTP/2, with limits and a graceful shutdown.
//!
//! The binary calls it once for each listener. Guarantees: a client that sends slowly holds a connection no longer than
//! the [`Limits`] allow; when [`serve`] returns, no connection is open.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::{Either, ready};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::Surface;
use crate::client_ip::Peer;
use crate::error_bodies::ErrorBodyStream;
use crate::header_limits::HeaderLimits;
use crate::idle_timeout::IdleTimeoutBody;

/// Pause after a failed accept. The usual cause is that the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Requests of one HTTP/2 connection at the same time.
const STREAMS_MAX: u32 = 250;
/// Time without a frame after which the server pings an HTTP/2 client.
const PING_AFTER: Duration = Duration::from_secs(30);

/// Bounds of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at the same time; further ones wait to be accepted.
    pub connections_max: usize,
    /// Time in which a request's line and headers have to arrive.
    pub header_read_timeout: Duration,
    /// Time in which the next part of a request's body has to arrive.
    pub body_idle_timeout: Duration,
    /// Bytes of a request's line and headers.
    pub header_bytes_max: usize,
    /// Time that requests in flight have to finish after `stop`; then the server closes their connections.
    pub drain: Duration,
}

impl Limits {
    fn headers(&self) -> HeaderLimits {
        HeaderLimits { bytes_max: self.header_bytes_max }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 20_000,
            header_read_timeout: Duration::from_secs(15),
            body_idle_timeout: Duration::from_secs(15),
            header_bytes_max: 64 * 1024,
            drain: Duration::from_secs(20),
        }
    }
}

/// Serves until `stop` resolves. Then it accepts nothing more, lets the requests in flight finish, and closes the
/// connections that are left at the end of [`Limits::drain`].
pub async fn serve(listener: TcpListener, surface: Surface, stop: impl Future<Output = ()>, limits: Limits) {
    let (server, surface) = (Arc::new(builder(&limits)), Arc::new(surface));
    let in_flight = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept(), if connections.len() < limits.connections_max => accepted,
            Some(_) = connections.join_next() => continue,
            () = &mut stop => break,
        };
        let Ok((stream, peer)) = accepted else {
            match tokio::time::timeout(ACCEPT_PAUSE, &mut stop).await {
                Ok(()) => break,
                Err(_) => continue,
            }
        };
        let (server, surface, watcher) = (Arc::clone(&server), Arc::clone(&surface), in_flight.watcher());
        connections
            .spawn(async move { connection(&server, (stream, Peer(peer.ip())), surface, watcher, &limits).await });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain, in_flight.shutdown()).await.is_err() {
        tracing::warn!("the server closed connections whose requests did not finish within the drain time");
    }
    connections.shutdown().await;
}

/// `pipeline_flush` stays off: it delays responses while input is unread, and after a malformed request some always is,
/// so the 400 would never be sent.
fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_read_timeout)
        .max_buf_size(limits.header_bytes_max);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(limits.headers().library_bytes_max())
        .max_concurrent_streams(STREAMS_MAX)
        .keep_alive_interval(Some(PING_AFTER));
    builder
}

async fn connection(
    server: &Builder<TokioExecutor>,
    (stream, peer): (TcpStream, Peer),
    surface: Arc<Surface>,
    watcher: Watcher,
    limits: &Limits,
) {
    let _ = stream.set_nodelay(true);
    let requested = Arc::new(Notify::new());
    let (first_request, idle_max, headers) = (requested.clone(), limits.body_idle_timeout, limits.headers());
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        first_request.notify_one();
        let answer = match headers.refusal(&request) {
            Some(refusal) => Either::Left(ready(refusal)),
            None => {
                request.extensions_mut().insert(peer);
                let request = request.map(|body| Body::new(IdleTimeoutBody::new(body, idle_max)));
                Either::Right(surface.answer(request))
            }
        };
        answer.map(Ok::<Response, Infallible>)
    });
    let connection = server.serve_connection(TokioIo::new(ErrorBodyStream::new(stream)), service).into_owned();
    let connection = pin!(watcher.watch(connection));
    tokio::select! {
        ended = connection => {
            if let Err(error) = ended {
                tracing::debug!(error, "a connection ended with an error");
            }
        }
        () = no_request_within(&requested, limits.header_read_timeout) => tracing::debug!("a connection sent no \
        request in time"),
    }
}

/// Resolves when the connection sends no request within `time_max`. The HTTP library's own timeout for headers starts
/// only once it has detected the HTTP version, and for that it waits without a limit.
async fn no_request_within(requested: &Notify, time_max: Duration) {
    if tokio::time::timeout(time_max, requested.notified()).await.is_ok() {
        std::future::pending().await
    }
}
