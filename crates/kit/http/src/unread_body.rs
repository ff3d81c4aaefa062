//! What the server does with a request body that the handler did not read to its end, for example because the key is
//! wrong.
//!
//! A client that is still sending would see a reset connection in place of the response. So the server reads and
//! discards a small rest, and the connection stays usable. With a larger rest, the response says `Connection: close`,
//! and the server closes the connection only after the client had time to read the response
//! ([`crate::lingering_close`]).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, SizeHint};

/// Largest rest of a body that the server reads and discards.
const DISCARDED_BYTES_MAX: usize = 64 * 1024;

/// A body that returns to the server when it is dropped before its end.
pub(crate) struct ReturnedBody<B> {
    body: Option<B>,
    unread: UnreadBody<B>,
}

/// The place to which an unread body returns.
pub(crate) struct UnreadBody<B>(Arc<Mutex<Option<B>>>);

/// Splits a body into the one for the handler and the place to which it returns.
pub(crate) fn split<B: Body>(body: B) -> (ReturnedBody<B>, UnreadBody<B>) {
    let place = Arc::new(Mutex::new(None));
    (ReturnedBody { body: Some(body), unread: UnreadBody(Arc::clone(&place)) }, UnreadBody(place))
}

impl<B: Body + Unpin> UnreadBody<B> {
    /// The body, if the handler dropped it before its end.
    pub(crate) fn returned(self) -> Option<B> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().filter(|body| !body.is_end_stream())
    }
}

/// Reads and discards a small rest of a body, for at most `time_max`. Whether the body has reached its end.
pub(crate) async fn discard<B: Body + Unpin>(mut rest: B, time_max: Duration) -> bool {
    if rest.size_hint().lower() > DISCARDED_BYTES_MAX as u64 {
        return false;
    }
    let read = async {
        let mut bytes = 0;
        while let Some(frame) = rest.frame().await {
            let Ok(frame) = frame else { return false };
            bytes += frame.data_ref().map_or(0, bytes::Buf::remaining);
            if bytes > DISCARDED_BYTES_MAX {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(time_max, read).await.unwrap_or(false)
}

impl<B: Body + Unpin> Body for ReturnedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if frame.is_none() {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for ReturnedBody<B> {
    fn drop(&mut self) {
        *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
    }
}
