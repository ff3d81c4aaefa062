//! Closes a connection whose client may still be sending.
//!
//! If the server closed such a connection at once, the kernel would reset it, and the client could lose the response.
//! So the server first ends only its own side, and discards what still arrives (RFC 9112, section 9.6).

use std::future::{Pending, pending};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Timeout, timeout};

/// Bytes that one read discards.
const DISCARD_BYTES: usize = 16 * 1024;

/// Set when the client of a connection may still be sending when the server closes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct StillSending(Arc<AtomicBool>);

impl StillSending {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream whose shutdown waits until the client has closed its side, if the client may still be sending.
pub(crate) struct LingeringClose<S> {
    stream: S,
    still_sending: StillSending,
    time_max: Duration,
    /// Set once the server's side has ended.
    deadline: Option<Pin<Box<Timeout<Pending<()>>>>>,
}

impl<S> LingeringClose<S> {
    pub(crate) fn new(stream: S, still_sending: StillSending, time_max: Duration) -> Self {
        Self { stream, still_sending, time_max, deadline: None }
    }
}

impl<S: AsyncRead + Unpin> LingeringClose<S> {
    /// Ready when the client has closed its side or the connection is broken.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; DISCARD_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(()),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LingeringClose<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringClose<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.deadline.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if !self.still_sending.is_set() {
                return Poll::Ready(Ok(()));
            }
            self.deadline = Some(Box::pin(timeout(self.time_max, pending())));
        }
        if self.poll_discard(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let is_over = self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready());
        if is_over { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}
