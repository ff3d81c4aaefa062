//! A request body with an idle timeout: reading it fails when the client sends nothing for too long.
//!
//! [`crate::serve`] wraps the body of every request in it, so that a client that stops in the middle of a body does not
//! hold its connection.

use std::future::{Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Frame};
use tokio::time::{Timeout, timeout};

/// A body of which each frame has to arrive within a time.
pub(crate) struct IdleTimeoutBody<B> {
    body: B,
    idle_max: Duration,
    /// The deadline of the frame that is awaited; none while none is.
    deadline: Option<Pin<Box<Timeout<Pending<()>>>>>,
}

/// The client sent nothing for too long.
#[derive(Debug, thiserror::Error)]
#[error("the client sent nothing of the request body for {} seconds", .0.as_secs())]
struct BodyIdle(Duration);

impl<B> IdleTimeoutBody<B> {
    pub(crate) fn new(body: B, idle_max: Duration) -> Self {
        Self { body, idle_max, deadline: None }
    }
}

impl<B> Body for IdleTimeoutBody<B>
where
    B: Body + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = B::Data;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, axum::BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.deadline = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let idle_max = self.idle_max;
        // Boxed and made only when a frame is awaited: most bodies arrive with their headers.
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(timeout(idle_max, pending())));
        let _elapsed = ready!(deadline.as_mut().poll(context));
        Poll::Ready(Some(Err(BodyIdle(idle_max).into())))
    }

    // No size hint: a body whose declared length is too large would be refused unread, and the client, which is still
    // sending, would see a closed connection instead of the response.
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::BodyExt as _;
    use http_body_util::channel::{Channel, Sender};

    use super::*;

    const IDLE_MAX: Duration = Duration::from_secs(60);

    fn body() -> (Sender<Bytes>, IdleTimeoutBody<Channel<Bytes>>) {
        let (sender, body) = Channel::new(1);
        (sender, IdleTimeoutBody::new(body, IDLE_MAX))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_which_a_frame_arrives_in_time_is_read_to_its_end() {
        let (mut sender, body) = body();
        let reading = tokio::spawn(body.collect());
        for chunk in ["a", "b", "c"] {
            tokio::time::advance(IDLE_MAX - Duration::from_secs(1)).await;
            sender.send_data(Bytes::from(chunk)).await.unwrap();
        }
        drop(sender);
        assert_eq!(reading.await.unwrap().unwrap().to_bytes(), "abc");
    }

    #[tokio::test(start_paused = true)]
    async fn reading_fails_when_no_frame_arrives_in_time() {
        let (mut sender, body) = body();
        let reading = tokio::spawn(body.collect());
        sender.send_data(Bytes::from("a")).await.unwrap();
        let error = reading.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the client sent nothing of the request body for 60 seconds");
    }
}
