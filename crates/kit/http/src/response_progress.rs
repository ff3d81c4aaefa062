//! Watches the responses of an HTTP/2 connection that wait for their client.
//!
//! An HTTP/2 client can read its socket and still take no response, because it opens no flow-control window (RFC 9113,
//! section 5.2). The server then holds the responses in memory, and the socket shows nothing of it. Over HTTP/1.1 a
//! response that is not taken blocks the socket, so [`crate::connection`] does not need this there.
//!
//! Guarantee: the server notices a response of which the client takes nothing for too long, and a connection without a
//! request.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, interval_at};

/// Largest part of a response that the HTTP library takes at once.
const PART_BYTES_MAX: usize = 16 * 1024;
/// The server looks for overdue responses this many times within a timeout.
const CHECKS_PER_TIMEOUT: u32 = 4;

/// The requests and responses of one HTTP/2 connection.
#[derive(Debug, Default)]
pub(crate) struct ResponseProgress {
    state: Mutex<State>,
    /// The first request began.
    begun: Notify,
}

#[derive(Debug, Default)]
struct State {
    last_id: u64,
    requests: usize,
    /// Since when the connection has no request; none before the first and while there is one.
    idle_since: Option<Instant>,
    /// Since when each waiting response waits for its client.
    waiting: HashMap<u64, Instant>,
}

/// Why the server closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The client took nothing of a response in time.
    Response,
    /// The connection had no request for too long.
    Request,
}

impl ResponseProgress {
    /// Counts a request until the returned value, or the body that it tracks, is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> OpenRequest {
        let mut state = self.state();
        state.last_id += 1;
        state.requests += 1;
        state.idle_since = None;
        let id = state.last_id;
        drop(state);
        if id == 1 {
            self.begun.notify_waiters();
        }
        OpenRequest { id, progress: Arc::clone(self) }
    }

    /// Resolves when a response or the next request is overdue, up to a quarter of a timeout later.
    pub(crate) async fn overdue(&self, response_max: Duration, idle_max: Duration) -> Overdue {
        self.first_request().await;
        let pause = (response_max.min(idle_max) / CHECKS_PER_TIMEOUT).max(Duration::from_millis(1));
        let mut ticks = interval_at(Instant::now() + pause, pause);
        loop {
            ticks.tick().await;
            let state = self.state();
            if state.waiting.values().any(|since| since.elapsed() >= response_max) {
                return Overdue::Response;
            }
            if state.idle_since.is_some_and(|since| since.elapsed() >= idle_max) {
                return Overdue::Request;
            }
        }
    }

    async fn first_request(&self) {
        loop {
            let begun = self.begun.notified();
            if self.state().last_id > 0 {
                return;
            }
            begun.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose response has not been sent completely.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    id: u64,
    progress: Arc<ResponseProgress>,
}

impl OpenRequest {
    /// The body of the response, which then counts as waiting whenever the client has to take a part.
    pub(crate) fn track(self, body: Body) -> Body {
        let tracked = TrackedBody { body, rest: Bytes::new(), request: self };
        if !tracked.is_end_stream() {
            tracked.request.set_waiting(Some(Instant::now()));
        }
        Body::new(tracked)
    }

    fn set_waiting(&self, since: Option<Instant>) {
        let mut state = self.progress.state();
        match since {
            Some(since) => state.waiting.insert(self.id, since),
            None => state.waiting.remove(&self.id),
        };
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.set_waiting(None);
        let mut state = self.progress.state();
        state.requests -= 1;
        if state.requests == 0 {
            state.idle_since = Some(Instant::now());
        }
    }
}

/// The body of a response, which the HTTP library takes in small parts. The library takes a part when the client has
/// room for the one before, and drops the body when the client has room for the last one.
struct TrackedBody {
    body: Body,
    /// What is left of a large part.
    rest: Bytes,
    request: OpenRequest,
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.rest.is_empty() {
            // While the server produces the next part, nothing waits for the client.
            self.request.set_waiting(None);
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PART_BYTES_MAX);
        let part = self.rest.split_to(length);
        self.request.set_waiting(Some(Instant::now()));
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;
    use http_body_util::channel::Channel;

    use super::*;

    const RESPONSE_MAX: Duration = Duration::from_secs(30);
    const IDLE_MAX: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_response_is_overdue_when_the_client_takes_nothing_for_too_long() {
        let progress = Arc::new(ResponseProgress::default());
        let mut body = progress.begin().track(Body::from(vec![b'a'; 3 * PART_BYTES_MAX]));
        let overdue = progress.overdue(RESPONSE_MAX, IDLE_MAX);
        tokio::pin!(overdue);
        for _ in 0..2 {
            tokio::time::advance(RESPONSE_MAX - Duration::from_secs(1)).await;
            assert_eq!(overdue.as_mut().now_or_never(), None);
            assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), PART_BYTES_MAX);
        }
        assert_eq!(overdue.await, Overdue::Response);
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_waits_for_the_server_is_never_overdue() {
        let progress = Arc::new(ResponseProgress::default());
        let (_sender, events) = Channel::<Bytes, std::io::Error>::new(1);
        let mut body = progress.begin().track(Body::new(events));
        assert!(body.frame().now_or_never().is_none());
        let overdue = tokio::time::timeout(10 * RESPONSE_MAX, progress.overdue(RESPONSE_MAX, IDLE_MAX)).await;
        assert!(overdue.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_overdue() {
        let progress = Arc::new(ResponseProgress::default());
        let request = progress.begin();
        assert!(tokio::time::timeout(10 * IDLE_MAX, progress.overdue(RESPONSE_MAX, IDLE_MAX)).await.is_err());
        drop(request);
        assert_eq!(progress.overdue(RESPONSE_MAX, IDLE_MAX).await, Overdue::Request);
    }
}
