//! Serving a surface: HTTP/1.1 and cleartext HTTP/2, with limits, until told to stop; then what is under way finishes.
//!
//! Guarantees: however slowly a client sends, it holds a connection no longer than the limits say; when [`serve`] returns,
//! no connection is left.

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
use crate::idle_timeout::{IdleTimeoutBody, WakeSuppressor};

/// Pause after a connection could not be accepted: no file descriptor was free, most likely.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Requests of one HTTP/2 connection at the same time.
const STREAMS_MAX: u32 = 250;
/// Quiet time after which an HTTP/2 client is asked if it is there.
const PING_AFTER: Duration = Duration::from_secs(30);

/// Bounds of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at the same time; further ones wait to be accepted.
    pub connections_max: usize,
    /// Time for a request's line and headers, so that a slow sender holds a connection for so long at most.
    pub header_read_timeout: Duration,
    /// Quiet time within a request's body.
    pub body_idle_timeout: Duration,
    /// Bytes of a request's line and headers.
    pub header_bytes_max: usize,
    /// How long requests under way may take at the end.
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

/// Serves until `stop` is done and what was under way has finished or the drain is over, when the rest is cut off.
pub async fn serve(listener: TcpListener, surface: Surface, stop: impl Future<Output = ()>, limits: Limits) {
    let (server, surface) = (Arc::new(builder(&limits)), Arc::new(surface));
    let under_way = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept(), if connections.len() < limits.connections_max => accepted,
            Some(_) = connections.join_next() => continue,
            () = &mut stop => break,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (server, surface, watcher) = (Arc::clone(&server), Arc::clone(&surface), under_way.watcher());
        connections
            .spawn(async move { connection(&server, (stream, Peer(peer.ip())), surface, watcher, &limits).await });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain, under_way.shutdown()).await.is_err() {
        tracing::warn!("requests that were still under way at the end of the drain were cut off");
    }
    connections.shutdown().await;
}

/// `pipeline_flush` stays off: it holds answers back while there is input left unread, and after a malformed request there
/// always is, so the 400 would never be sent.
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
    let (seen, idle_max, headers) = (requested.clone(), limits.body_idle_timeout, limits.headers());
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        seen.notify_one();
        let answer = match headers.refusal(&request) {
            Some(refusal) => Either::Left(ready(refusal)),
            None => {
                request.extensions_mut().insert(peer);
                let version = request.version();
                let request = request.map(|body| Body::new(IdleTimeoutBody::new(body, version, idle_max)));
                Either::Right(surface.answer(request))
            }
        };
        answer.map(Ok::<Response, Infallible>)
    });
    let connection = server.serve_connection(TokioIo::new(ErrorBodyStream::new(stream)), service).into_owned();
    let connection = pin!(watcher.watch(connection));
    tokio::select! {
        ended = WakeSuppressor::new(connection) => {
            if let Err(error) = ended {
                tracing::debug!(error, "a connection ended early");
            }
        }
        () = no_request_within(&requested, limits.header_read_timeout) => tracing::debug!("a connection asked for nothing"),
    }
}

/// Done when no request came in time. The server's own timeout for headers begins only when it knows which HTTP it is, and
/// that it waits for without end.
async fn no_request_within(requested: &Notify, time_max: Duration) {
    if tokio::time::timeout(time_max, requested.notified()).await.is_ok() {
        std::future::pending().await
    }
}
