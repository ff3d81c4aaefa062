//! Serving a router: HTTP/1.1 and cleartext HTTP/2, with limits, until told to stop; then what is under way finishes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

/// Pause after a connection could not be accepted: no file descriptor was free, most likely.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Bounds of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at the same time; further ones wait to be accepted.
    pub connections_max: usize,
    /// Time for a request's line and headers, so that a slow sender holds a connection for so long at most.
    pub header_read_timeout: Duration,
    /// Bytes of a request's line and headers.
    pub header_bytes_max: usize,
    /// Headers of a request.
    pub headers_max: usize,
    /// How long requests under way may take at the end.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 20_000,
            header_read_timeout: Duration::from_secs(15),
            header_bytes_max: 64 * 1024,
            headers_max: 100,
            drain: Duration::from_secs(20),
        }
    }
}

/// Serves until `stop` is done and what was under way has finished or the drain is over.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>, limits: Limits) {
    let server = Arc::new(builder(&limits));
    let places = Arc::new(Semaphore::new(limits.connections_max));
    let under_way = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (server, router, watcher) = (server.clone(), router.clone(), under_way.watcher());
        tokio::spawn(async move {
            let connection = connect(&server, stream, router);
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain, under_way.shutdown()).await.is_err() {
        tracing::warn!("requests that were still under way at the end of the drain were cut off");
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_read_timeout)
        .max_buf_size(limits.header_bytes_max)
        .max_headers(limits.headers_max)
        .pipeline_flush(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.header_bytes_max).unwrap_or(u32::MAX))
        .max_concurrent_streams(250)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}

fn connect(
    server: &Builder<TokioExecutor>,
    stream: TcpStream,
    router: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = Box<dyn std::error::Error + Send + Sync>> + use<> {
    let _ = stream.set_nodelay(true);
    let service = router.map_request(|request: http::Request<Incoming>| request.map(axum::body::Body::new));
    let service = TowerToHyperService::new(service.map_err(|never: Infallible| match never {}));
    server.serve_connection(TokioIo::new(stream), service).into_owned()
}
