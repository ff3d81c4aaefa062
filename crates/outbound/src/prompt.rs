//! A connection that doesn't keep a server waiting for word that its bytes arrived.
//!
//! Many servers write an answer's head and its body separately, and leave Nagle's algorithm on: their system holds the body
//! back until the head is acknowledged. Ours would put that off for 40 ms, in the hope of something to send along with it,
//! which an HTTP client does not have before it has read the body. So the acknowledgement is sent at once when the rest of an
//! answer is waited for, and only then: answers that come in one piece cost nothing more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use runtime::joined::poll_write_joined;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A TCP connection that acknowledges what came when it is asked to.
pub(crate) struct Prompt {
    stream: TcpStream,
    awaited: Awaited,
}

/// Whether somebody waits for the rest of an answer. Clones are of the same connection.
#[derive(Clone, Default)]
pub(crate) struct Awaited(Arc<AtomicBool>);

impl Awaited {
    /// When the connection is read the next time and nothing is there, what came before is acknowledged.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}

impl Prompt {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, awaited: Awaited::default() }
    }

    pub(crate) fn awaited(&self) -> Awaited {
        self.awaited.clone()
    }
}

impl Connection for Prompt {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

impl AsyncRead for Prompt {
    fn poll_read(mut self: Pin<&mut Self>, turn: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(turn, into);
        if read.is_pending() && self.awaited.take() {
            acknowledge(&self.stream);
        }
        read
    }
}

impl AsyncWrite for Prompt {
    fn poll_write(mut self: Pin<&mut Self>, turn: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(turn, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        turn: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        poll_write_joined(Pin::new(&mut self.stream), turn, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, turn: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(turn)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, turn: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(turn)
    }
}

/// Sends what of an acknowledgement is due. The system goes back to its habit by itself; where it has no such switch, the
/// answer is late and nothing else.
#[cfg(target_os = "linux")]
fn acknowledge(stream: &TcpStream) {
    let _ = stream.set_quickack(true);
}

#[cfg(not(target_os = "linux"))]
fn acknowledge(_: &TcpStream) {}
