//! One connection of a server: its requests, and the reasons to close it.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Version, header};
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;

use crate::Surface;
use crate::body_timeouts::{BodyTimeouts, BodyWithTimeouts};
use crate::client_ip::Peer;
use crate::error_bodies::ErrorBodyStream;
use crate::header_limits::HeaderLimits;
use crate::host_header;
use crate::lingering_close::{LingeringClose, StillSending};
use crate::response_progress::{Overdue, ResponseProgress};
use crate::serve::Limits;
use crate::unread_body::{self, UnreadBody};

/// Requests of one HTTP/2 connection at the same time.
const STREAMS_MAX: u32 = 100;
/// Bytes of request bodies that an HTTP/2 client may send before the handlers read them: of one request, and in total.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// Time without a frame after which the server pings an HTTP/2 client.
const PING_AFTER: Duration = Duration::from_secs(30);

/// What the connections of a server share.
pub(crate) struct ConnectionServer {
    library: Builder<TokioExecutor>,
    surface: Surface,
    limits: Limits,
}

/// What the requests of a connection share.
struct Connection {
    server: Arc<ConnectionServer>,
    peer: Peer,
    still_sending: StillSending,
    first_request: Notify,
    /// Of the requests over HTTP/2.
    progress: Arc<ResponseProgress>,
}

impl ConnectionServer {
    /// `pipeline_flush` stays off: it delays responses while input is unread, and after a malformed request some always
    /// is, so the 400 would never be sent. Without it the library reads the next request of an HTTP/1.1 connection only
    /// after the socket has taken the response, and buffers at most [`Limits::header_bytes_max`] of further requests.
    pub(crate) fn new(surface: Surface, limits: Limits) -> Self {
        let headers = HeaderLimits { bytes_max: limits.header_bytes_max };
        let mut library = Builder::new(TokioExecutor::new());
        library
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_read_timeout)
            .max_buf_size(limits.header_bytes_max);
        library
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(headers.library_bytes_max())
            .max_concurrent_streams(STREAMS_MAX)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .keep_alive_interval(Some(PING_AFTER));
        Self { library, surface, limits }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Serves a connection until it ends. After `stopping` it lets the requests in flight finish and ends.
    pub(crate) async fn serve<S>(self: Arc<Self>, stream: S, peer: IpAddr, stopping: CancellationToken)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let connection = Arc::new(Connection {
            server: Arc::clone(&self),
            peer: Peer(peer),
            still_sending: StillSending::default(),
            first_request: Notify::new(),
            progress: Arc::default(),
        });
        let stream = connection.stream(stream);
        let service = {
            let connection = Arc::clone(&connection);
            service_fn(move |request| {
                let connection = Arc::clone(&connection);
                async move { Ok::<_, Infallible>(connection.answer(request).await) }
            })
        };
        let mut serving = pin!(self.library.serve_connection(TokioIo::new(stream), service));
        let mut no_request = pin!(no_request_within(&connection.first_request, self.limits.header_read_timeout));
        let mut is_closing = false;
        loop {
            tokio::select! {
                ended = serving.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(error, "a connection ended with an error");
                    }
                    return;
                }
                () = stopping.cancelled(), if !is_closing => {
                    is_closing = true;
                    serving.as_mut().graceful_shutdown();
                }
                () = no_request.as_mut() => {
                    tracing::debug!("a connection sent no request in time");
                    return;
                }
                overdue = connection.progress.overdue(self.limits.write_timeout, self.limits.http2_idle_timeout) => {
                    tracing::debug!(?overdue, "an HTTP/2 connection made no progress");
                    if overdue == Overdue::Response || is_closing {
                        return;
                    }
                    is_closing = true;
                    serving.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

impl Connection {
    /// The stream with its timeouts: writing fails when the client takes nothing for [`Limits::write_timeout`].
    fn stream<S: AsyncRead + AsyncWrite>(&self, stream: S) -> impl AsyncRead + AsyncWrite + Unpin + use<S> {
        let limits = &self.server.limits;
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(limits.write_timeout));
        let stream = LingeringClose::new(Box::pin(stream), self.still_sending.clone(), limits.linger);
        ErrorBodyStream::new(stream, self.still_sending.clone())
    }

    async fn answer(&self, request: http::Request<Incoming>) -> Response {
        self.first_request.notify_one();
        match request.version() {
            Version::HTTP_2 => {
                let open = self.progress.begin();
                let (response, _) = self.handle(request).await;
                response.map(|body| open.track(body))
            }
            _ => {
                let waits_for_continue = request.headers().contains_key(header::EXPECT);
                let (mut response, unread) = self.handle(request).await;
                if let Some(rest) = unread.and_then(UnreadBody::returned) {
                    // Reading would make a client that waits for `100 Continue` send its body.
                    let is_read =
                        !waits_for_continue && unread_body::discard(rest, self.server.limits.discard_timeout).await;
                    if !is_read {
                        self.close_after(response.headers_mut());
                    }
                }
                response
            }
        }
    }

    /// The response, and the place to which an unread body returns if the request has a body.
    async fn handle(&self, request: http::Request<Incoming>) -> (Response, Option<UnreadBody<Incoming>>) {
        let limits = &self.server.limits;
        let headers = HeaderLimits { bytes_max: limits.header_bytes_max };
        let refusal = headers.refusal(&request).or_else(|| host_header::refusal(&request));
        let (parts, body) = request.into_parts();
        let (body, unread) = if body.is_end_stream() {
            (Body::empty(), None)
        } else {
            let (body, unread) = unread_body::split(body);
            let timeouts = BodyTimeouts { idle: limits.body_idle_timeout, total: limits.body_timeout };
            (Body::new(BodyWithTimeouts::new(body, timeouts)), Some(unread))
        };
        let mut request = http::Request::from_parts(parts, body);
        if let Some(refusal) = refusal {
            return (refusal, unread);
        }
        request.extensions_mut().insert(self.peer);
        (self.server.surface.answer(request).await, unread)
    }

    /// The connection ends after this response, and its client may still be sending.
    fn close_after(&self, headers: &mut HeaderMap) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        self.still_sending.set();
    }
}

/// Resolves when the connection sends no request within `time_max`. The HTTP library's own timeout for headers starts
/// only once it has detected the HTTP version, and for that it waits without a limit.
async fn no_request_within(first_request: &Notify, time_max: Duration) {
    if tokio::time::timeout(time_max, first_request.notified()).await.is_ok() {
        std::future::pending().await
    }
}
