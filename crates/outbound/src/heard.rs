//! Whether the other side has said anything: what tells a connection that had ended before it was used again from one that
//! broke in the middle of an answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Set when a byte was read. Clones are the same mark.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<AtomicBool>);

/// A stream that sets a mark when it reads. Of TLS only what was said inside of it counts.
pub(crate) struct Listening<S> {
    stream: S,
    heard: Heard,
}

impl Heard {
    /// As if nothing had been read so far.
    pub(crate) fn forget(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn anything(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<S> Listening<S> {
    pub(crate) fn new(stream: S, heard: Heard) -> Self {
        Self { stream, heard }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Listening<S> {
    fn poll_read(mut self: Pin<&mut Self>, turn: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(turn, into);
        if into.filled().len() > before {
            self.heard.0.store(true, Ordering::Relaxed);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Listening<S> {
    fn poll_write(mut self: Pin<&mut Self>, turn: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(turn, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, turn: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(turn)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, turn: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(turn)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        turn: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(turn, pieces)
    }
}
