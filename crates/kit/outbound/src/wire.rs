//! The byte stream below hyper, and what happened on it since a request began.
//!
//! hyper's errors tell neither how many bytes were written and read, nor whether the stream or the response was at
//! fault. The client needs both: to know whether a request may be sent again, and to name the cause.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::stream::Stream;

/// Maximum number of interim responses (1xx) before a response. Servers send one or two.
const INTERIM_RESPONSES_MAX: usize = 32;
/// Bytes of a chunked body on the wire for each byte of its content. hyper does not limit the leading zeros of a chunk size.
const WIRE_BYTES_PER_BODY_BYTE_MAX: usize = 32;
/// Bytes of a response that is not HTTP which the error quotes.
const BEGINNING_BYTES_MAX: usize = 40;

/// The stream of a connection. hyper has one clone of it, the connection another. Calls do not overlap, because the
/// task that sends the request also runs hyper.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Mutex<WireState>>);

pub(crate) struct WireState {
    stream: Stream,
    /// Whether hyper has asked for bytes.
    was_read: bool,
    /// Maximum bytes of the heads of a response and its interim responses together.
    head_bytes_max: usize,
    /// Maximum bytes of a whole response on the wire.
    received_bytes_max: usize,
    /// Since the last request began.
    pub(crate) traffic: Traffic,
}

/// What happened on the stream.
pub(crate) struct Traffic {
    pub(crate) sent_bytes: usize,
    pub(crate) received_bytes: usize,
    pub(crate) first_byte_at: Option<Instant>,
    /// Bytes of the request wait until the server accepts more.
    pub(crate) is_writing: bool,
    /// The server accepts no more bytes. Its response may have been sent before, so reading goes on.
    pub(crate) write_failed: bool,
    /// How the server ended the stream, if it did.
    pub(crate) end: Option<ConnectionEnd>,
    interim_responses: usize,
    /// Bytes of the heads of interim responses, and of the response that follows them.
    interim_head_bytes: usize,
    /// Bytes arrived that have not been acknowledged yet.
    ack_is_due: bool,
    beginning: [u8; BEGINNING_BYTES_MAX],
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// The server closed it.
    Closed,
    /// It was reset, or failed in another way, such as a fault of TLS.
    Reset,
}

/// Which limit the interim responses exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterimExcess {
    Number,
    Bytes,
}

impl Wire {
    pub(crate) fn new(stream: Stream, head_bytes_max: usize) -> Self {
        let state =
            WireState { stream, was_read: false, head_bytes_max, received_bytes_max: 0, traffic: Traffic::NONE };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, WireState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WireState {
    /// Forgets what happened before this request.
    ///
    /// Heads, trailers and bytes that are read ahead have a share of four heads of the bytes of the response.
    pub(crate) fn begin(&mut self, body_bytes_max: usize) {
        self.received_bytes_max =
            body_bytes_max.saturating_mul(WIRE_BYTES_PER_BODY_BYTE_MAX).saturating_add(self.head_bytes_max * 4);
        self.traffic = Traffic::NONE;
    }

    /// Counts an interim response with a head of this size.
    pub(crate) fn add_interim_response(&mut self, head_bytes: usize) {
        self.traffic.interim_responses += 1;
        self.traffic.interim_head_bytes += head_bytes;
    }

    /// Counts the head of the response, if interim responses came before it. hyper limits it otherwise.
    pub(crate) fn add_response(&mut self, head_bytes: impl FnOnce() -> usize) {
        if self.traffic.interim_responses > 0 {
            self.traffic.interim_head_bytes += head_bytes();
        }
    }

    /// Whether more bytes arrived than a body within the limit can need.
    pub(crate) fn is_too_long(&self) -> bool {
        self.traffic.received_bytes > self.received_bytes_max
    }

    /// The limit that the interim responses exceed.
    pub(crate) fn interim_excess(&self) -> Option<InterimExcess> {
        if self.traffic.interim_responses > INTERIM_RESPONSES_MAX {
            return Some(InterimExcess::Number);
        }
        (self.traffic.interim_head_bytes > self.head_bytes_max).then_some(InterimExcess::Bytes)
    }

    /// Acknowledges received bytes at once, if more of the response has to arrive. Many servers write the head and the
    /// body separately with Nagle's algorithm on: their system sends the body only after the head is acknowledged,
    /// which a delayed acknowledgement would delay by 40 ms.
    pub(crate) fn acknowledge(&mut self) {
        if std::mem::take(&mut self.traffic.ack_is_due) {
            self.stream.quick_ack();
        }
    }

    /// Counts written bytes. After a failed write the rest is dropped, and hyper goes on to read the response.
    fn written(&mut self, outcome: io::Result<usize>, all: usize) -> usize {
        match outcome {
            Ok(count) => {
                self.traffic.sent_bytes += count;
                count
            }
            Err(_) => {
                self.traffic.write_failed = true;
                all
            }
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // hyper refuses bytes that arrive before it wrote a request. But a server may respond as soon as it accepts a
        // connection, such as 503 at its limit: the first bytes are read after the first request is written.
        if !std::mem::replace(&mut self.was_read, true) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.interim_excess().is_some() {
            return Poll::Ready(Err(io::Error::other("the interim responses exceed a limit")));
        }
        if self.is_too_long() {
            return Poll::Ready(Err(io::Error::other("the response has too many bytes")));
        }
        let before = into.filled().len();
        let outcome = ready!(Pin::new(&mut self.stream).poll_read(cx, into));
        match &outcome {
            Ok(()) => self.traffic.received(&into.filled()[before..]),
            Err(_) => self.traffic.end = Some(ConnectionEnd::Reset),
        }
        Poll::Ready(outcome)
    }
}

impl Traffic {
    const NONE: Self = Self {
        sent_bytes: 0,
        received_bytes: 0,
        first_byte_at: None,
        is_writing: false,
        write_failed: false,
        end: None,
        interim_responses: 0,
        interim_head_bytes: 0,
        ack_is_due: false,
        beginning: [0; BEGINNING_BYTES_MAX],
    };

    /// The first bytes that arrived.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning[..self.received_bytes.min(BEGINNING_BYTES_MAX)]
    }

    fn received(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            self.end = Some(ConnectionEnd::Closed);
            return;
        }
        self.first_byte_at.get_or_insert_with(Instant::now);
        let room = self.beginning.iter_mut().skip(self.received_bytes);
        room.zip(bytes).for_each(|(place, byte)| *place = *byte);
        self.received_bytes += bytes.len();
        self.ack_is_due = true;
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.lock().poll_read(cx, into)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.lock();
        let all = slices.iter().map(|slice| slice.len()).sum();
        if state.traffic.write_failed {
            return Poll::Ready(Ok(all));
        }
        let polled = Pin::new(&mut state.stream).poll_write_vectored(cx, slices);
        state.traffic.is_writing = polled.is_pending();
        let outcome = ready!(polled);
        Poll::Ready(Ok(state.written(outcome, all)))
    }

    fn is_write_vectored(&self) -> bool {
        self.lock().stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.lock();
        let polled = Pin::new(&mut state.stream).poll_flush(cx);
        state.traffic.is_writing = polled.is_pending();
        let outcome = ready!(polled);
        state.traffic.write_failed |= outcome.is_err();
        Poll::Ready(Ok(()))
    }

    /// Dropping the stream closes it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
