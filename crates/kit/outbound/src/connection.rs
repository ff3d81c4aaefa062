//! One connection, and the exchange of a request for a response on it. The exchange runs in the caller's task.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, ReadBuf};

use crate::client::Response;
use crate::error::TransportError;
use crate::http1::{EncodedRequest, ReadBuffer, ResponseReader};
use crate::stream::Stream;

/// An open connection without a request in flight. Dropping it closes it.
pub(crate) struct Connection {
    stream: Stream,
    read_buffer: ReadBuffer,
    head_bytes_max: usize,
    /// Whether the last request was written and its response read completely, and the server keeps the connection open.
    is_reusable: bool,
}

/// A request in flight on a connection.
struct Exchange<'a> {
    connection: &'a mut Connection,
    request: &'a EncodedRequest,
    /// Bytes of the request that were written.
    sent: usize,
    sending: SendState,
    response: ResponseReader,
    response_started: bool,
    /// Bytes arrived that have not been acknowledged yet.
    ack_is_due: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SendState {
    InProgress,
    Done,
    /// The server accepts no more bytes. Its response may have been sent before, so reading goes on.
    Failed,
}

/// Why a request got no response.
pub(crate) enum ExchangeError {
    /// Nothing of the request was written: the server had ended the connection.
    Unsent(ConnectionEnd),
    /// The server ended the connection before a byte of its response. On a reused connection the server most likely
    /// closed it as idle at that moment and did not read the request.
    NoResponse(ConnectionEnd),
    /// The request may have arrived.
    Transport(TransportError),
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// The server closed it.
    Closed,
    /// It was reset, or failed in another way.
    Reset,
}

impl From<ConnectionEnd> for TransportError {
    fn from(end: ConnectionEnd) -> Self {
        match end {
            ConnectionEnd::Closed => Self::Closed,
            ConnectionEnd::Reset => Self::Reset,
        }
    }
}

impl Connection {
    /// A connection that reads at most `head_bytes_max` bytes of a response's status line and headers.
    pub(crate) fn new(stream: Stream, head_bytes_max: usize) -> Self {
        Self { stream, read_buffer: ReadBuffer::default(), head_bytes_max, is_reusable: true }
    }

    /// Sends a request and reads the response, with at most `body_bytes_max` of its body.
    pub(crate) fn exchange<'a>(
        &'a mut self,
        request: &'a EncodedRequest,
        body_bytes_max: usize,
    ) -> impl Future<Output = Result<Response, ExchangeError>> + Send + 'a {
        self.is_reusable = false;
        let mut exchange = Exchange {
            response: ResponseReader::new(request, self.head_bytes_max, body_bytes_max),
            connection: self,
            request,
            sent: 0,
            sending: SendState::InProgress,
            response_started: false,
            ack_is_due: false,
        };
        poll_fn(move |cx| exchange.poll(cx))
    }

    /// Whether the connection could carry another request after the last response. [`Self::is_open`] checks it again
    /// before the next request.
    pub(crate) fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    /// Whether the connection can carry another request: since the last response the server has neither closed it nor
    /// sent bytes. The check reads once and registers no waker.
    pub(crate) fn is_open(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let mut byte = [0];
        self.is_reusable
            && Pin::new(&mut self.stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte)).is_pending()
    }
}

impl Exchange<'_> {
    /// Writes and reads as much as is possible without waiting.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Response, ExchangeError>> {
        self.send(cx);
        loop {
            match self.response.read(&mut self.connection.read_buffer) {
                Ok(Some((response, persists))) => {
                    self.connection.is_reusable = persists && self.sending == SendState::Done;
                    return Poll::Ready(Ok(response));
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(ExchangeError::Transport(error))),
            }
            match self.receive(cx) {
                Poll::Ready(Ok(1..)) => (self.response_started, self.ack_is_due) = (true, true),
                Poll::Ready(Ok(0)) => return Poll::Ready(self.on_close(ConnectionEnd::Closed)),
                Poll::Ready(Err(_)) => return Poll::Ready(self.on_close(ConnectionEnd::Reset)),
                Poll::Pending => {
                    // Many servers write the head and the body separately with Nagle's algorithm on: their system sends
                    // the body only after the head is acknowledged, which a delayed acknowledgement would delay by 40
                    // ms.
                    if std::mem::take(&mut self.ack_is_due) {
                        self.connection.stream.quick_ack();
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    fn send(&mut self, cx: &mut Context<'_>) {
        if self.sending == SendState::InProgress {
            match self.poll_send(cx) {
                Poll::Ready(Ok(())) => self.sending = SendState::Done,
                Poll::Ready(Err(_)) => self.sending = SendState::Failed,
                Poll::Pending => {}
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(&mut self.connection.stream);
        while self.sent < self.request.len() {
            let pieces = self.request.unwritten(self.sent);
            let written = match &pieces {
                [one, none] if none.is_empty() => stream.as_mut().poll_write(cx, one),
                pieces => stream.as_mut().poll_write_vectored(cx, pieces),
            };
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.sent += count,
            }
        }
        stream.poll_flush(cx)
    }

    fn receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Connection { stream, read_buffer, .. } = &mut *self.connection;
        pin!(stream.read_buf(read_buffer.spare())).poll(cx)
    }

    /// The result when the connection has ended.
    fn on_close(&mut self, end: ConnectionEnd) -> Result<Response, ExchangeError> {
        let (received_bytes, expected_bytes) = self.response.body_progress();
        let complete = match end {
            ConnectionEnd::Closed => self.response.finish_at_close(),
            ConnectionEnd::Reset => None,
        };
        match complete {
            Some(response) => Ok(response),
            None if self.response_started => {
                Err(ExchangeError::Transport(TransportError::ClosedEarly { received_bytes, expected_bytes }))
            }
            None if self.sent == 0 => Err(ExchangeError::Unsent(end)),
            None => Err(ExchangeError::NoResponse(end)),
        }
    }
}
