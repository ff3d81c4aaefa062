//! A request body with two timeouts: one for the pause between its parts, and one for the whole body.
//!
//! The server wraps the body of every request in it. A client that stops in the middle of a body, or that sends a body
//! a byte at a time, then does not hold its connection.

use std::future::{Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Frame};
use tokio::time::{Instant, Timeout, timeout};

/// A body whose frames have to arrive in time.
pub(crate) struct BodyWithTimeouts<B> {
    body: B,
    timeouts: BodyTimeouts,
    begun_at: Instant,
    /// The deadline of the frame that is awaited; none while none is.
    deadline: Option<Pin<Box<Timeout<Pending<()>>>>>,
}

/// How long a body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyTimeouts {
    /// Time without a frame.
    pub(crate) idle: Duration,
    /// Time for the whole body.
    pub(crate) total: Duration,
}

/// The body did not arrive in time.
#[derive(Debug, thiserror::Error)]
enum BodyTimedOut {
    #[error("the client sent nothing of the request body for {} seconds", .0.as_secs())]
    Idle(Duration),
    #[error("the client did not send the whole request body within {} seconds", .0.as_secs())]
    Total(Duration),
}

impl<B> BodyWithTimeouts<B> {
    pub(crate) fn new(body: B, timeouts: BodyTimeouts) -> Self {
        Self { body, timeouts, begun_at: Instant::now(), deadline: None }
    }
}

impl<B> Body for BodyWithTimeouts<B>
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
        let BodyTimeouts { idle, total } = self.timeouts;
        let remaining = total.saturating_sub(self.begun_at.elapsed());
        if remaining.is_zero() {
            return Poll::Ready(Some(Err(BodyTimedOut::Total(total).into())));
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.deadline = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        // Boxed and made only when a frame is awaited: most bodies arrive with their headers.
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(timeout(idle.min(remaining), pending())));
        let _elapsed = ready!(deadline.as_mut().poll(context));
        let is_over = self.begun_at.elapsed() >= total;
        let error = if is_over { BodyTimedOut::Total(total) } else { BodyTimedOut::Idle(idle) };
        Poll::Ready(Some(Err(error.into())))
    }

    // No size hint: a body whose declared length is too large would be refused unread. Most clients read the response
    // only after they have sent the whole body.
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

    const TIMEOUTS: BodyTimeouts = BodyTimeouts { idle: Duration::from_secs(60), total: Duration::from_secs(200) };

    fn body() -> (Sender<Bytes>, BodyWithTimeouts<Channel<Bytes>>) {
        let (sender, body) = Channel::new(1);
        (sender, BodyWithTimeouts::new(body, TIMEOUTS))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_which_a_frame_arrives_in_time_is_read_to_its_end() {
        let (mut sender, body) = body();
        let reading = tokio::spawn(body.collect());
        for chunk in ["a", "b", "c"] {
            tokio::time::advance(TIMEOUTS.idle - Duration::from_secs(1)).await;
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

    #[tokio::test(start_paused = true)]
    async fn reading_fails_when_the_whole_body_takes_too_long() {
        let (mut sender, body) = body();
        let reading = tokio::spawn(body.collect());
        while sender.send_data(Bytes::from("a")).await.is_ok() {
            tokio::time::advance(TIMEOUTS.idle / 2).await;
        }
        let error = reading.await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the client did not send the whole request body within 200 seconds");
    }
}
