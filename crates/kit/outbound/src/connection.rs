//! One connection, and an exchange on it, which runs in the task that waits for the answer.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, ReadBuf};

use crate::client::Response;
use crate::error::TransportError;
use crate::http1::{EncodedRequest, ReadBuffer, ResponseReader};
use crate::stream::Stream;

/// An open connection without a request under way. Dropping it closes it.
pub(crate) struct Connection {
    stream: Stream,
    read_buffer: ReadBuffer,
    head_bytes_max: usize,
    /// Whether the last request was written and its answer read, both to their ends, and the other side stays.
    is_reusable: bool,
}

/// A request under way on a connection.
struct Exchange<'a> {
    connection: &'a mut Connection,
    request: &'a EncodedRequest,
    /// Bytes of the request that were written.
    sent: usize,
    sending: SendState,
    response: ResponseReader,
    response_started: bool,
    /// Something came that the other side may wait to be told of.
    ack_is_due: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SendState {
    InProgress,
    Done,
    /// The other side takes no more. What it may have answered before is read all the same, up to the connection's end.
    Failed,
}

/// Why a request got no response.
pub(crate) enum ExchangeError {
    /// Nothing of it was written: the other side had closed the connection before.
    Unsent,
    /// The other side ended the connection before a byte of its answer came. If the connection had been used before, it was
    /// most likely closed as idle just then, and the request was never looked at.
    NoResponse,
    /// It may have arrived.
    Transport(TransportError),
}

impl Connection {
    /// At most `head_bytes_max` bytes of a response's status line and headers are read.
    pub(crate) fn new(stream: Stream, head_bytes_max: usize) -> Self {
        Self { stream, read_buffer: ReadBuffer::default(), head_bytes_max, is_reusable: true }
    }

    /// Sends a request and reads the response, of its body at most `body_bytes_max`.
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

    /// Whether another request could go out when the last response had been read. Less than [`Self::is_open`], which is asked before
    /// one does.
    pub(crate) fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    /// Whether another request can go out: nobody has closed the connection since the last response, nor said anything. What has come
    /// meanwhile is looked at, and nobody is woken for what comes later.
    pub(crate) fn is_open(&mut self) -> bool {
        let mut nobody = Context::from_waker(Waker::noop());
        let mut byte = [0];
        self.is_reusable && Pin::new(&mut self.stream).poll_read(&mut nobody, &mut ReadBuf::new(&mut byte)).is_pending()
    }
}

impl Exchange<'_> {
    /// Writes and reads what is possible now.
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
                Poll::Ready(ended) => return Poll::Ready(self.on_close(ended.is_ok())),
                Poll::Pending => {
                    // Many servers write an answer's head and its body separately, and leave Nagle's algorithm on: their system
                    // holds the body back until it knows that the head has come, which ours would put off for 40 ms.
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

    /// What is made of the connection's end, which was an error or not.
    fn on_close(&mut self, clean: bool) -> Result<Response, ExchangeError> {
        match self.response.finish_at_close().filter(|_| clean) {
            Some(response) => Ok(response),
            None if self.response_started => Err(ExchangeError::Transport(TransportError::Closed)),
            None if self.sent == 0 => Err(ExchangeError::Unsent),
            None => Err(ExchangeError::NoResponse),
        }
    }
}
