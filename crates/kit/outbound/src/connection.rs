//! One connection, and an exchange on it, which runs in the task that waits for the answer.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, ReadBuf};

use crate::client::Response;
use crate::error::TransportError;
use crate::http1::{Answer, Inbox, Outgoing};
use crate::stream::Stream;

/// An open connection without a request under way. Dropping it closes it.
pub(crate) struct Connection {
    stream: Stream,
    inbox: Inbox,
    head_bytes_max: usize,
    /// Whether the last request was written and its answer read, both to their ends, and the other side stays.
    is_ready: bool,
}

/// A request under way on a connection.
struct Exchange<'a> {
    connection: &'a mut Connection,
    request: &'a Outgoing,
    /// Bytes of the request that were written.
    sent: usize,
    sending: Sending,
    answer: Answer,
    heard: bool,
    /// Something came that the other side may wait to be told of.
    unacknowledged: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    UnderWay,
    Done,
    /// The other side takes no more. What it may have answered before is read all the same, up to the connection's end.
    Broken,
}

/// Why a request got no response.
pub(crate) enum Failed {
    /// Nothing of it was written: the other side had closed the connection before.
    Unsent,
    /// The other side ended the connection before a byte of its answer came. If the connection had been used before, it was
    /// most likely closed as idle just then, and the request was never looked at.
    Unheard,
    /// It may have arrived.
    Broken(TransportError),
}

impl Connection {
    /// At most `head_bytes_max` bytes of a response's status line and headers are read.
    pub(crate) fn new(stream: Stream, head_bytes_max: usize) -> Self {
        Self { stream, inbox: Inbox::default(), head_bytes_max, is_ready: true }
    }

    /// Sends a request and reads the response, of its body at most `body_bytes_max`.
    pub(crate) fn exchange<'a>(
        &'a mut self,
        request: &'a Outgoing,
        body_bytes_max: usize,
    ) -> impl Future<Output = Result<Response, Failed>> + Send + 'a {
        self.is_ready = false;
        let mut exchange = Exchange {
            answer: Answer::new(request, self.head_bytes_max, body_bytes_max),
            connection: self,
            request,
            sent: 0,
            sending: Sending::UnderWay,
            heard: false,
            unacknowledged: false,
        };
        poll_fn(move |turn| exchange.turn(turn))
    }

    /// Whether another request could go out when the last response had been read. Less than [`Self::is_open`], which is asked before
    /// one does.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether another request can go out: nobody has closed the connection since the last response, nor said anything. What has come
    /// meanwhile is looked at, and nobody is woken for what comes later.
    pub(crate) fn is_open(&mut self) -> bool {
        let mut nobody = Context::from_waker(Waker::noop());
        let mut byte = [0];
        self.is_ready && Pin::new(&mut self.stream).poll_read(&mut nobody, &mut ReadBuf::new(&mut byte)).is_pending()
    }
}

impl Exchange<'_> {
    /// Writes and reads what is possible now.
    fn turn(&mut self, turn: &mut Context<'_>) -> Poll<Result<Response, Failed>> {
        self.send(turn);
        loop {
            match self.answer.read(&mut self.connection.inbox) {
                Ok(Some((response, keeps))) => {
                    self.connection.is_ready = keeps && self.sending == Sending::Done;
                    return Poll::Ready(Ok(response));
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Err(Failed::Broken(error))),
            }
            match self.receive(turn) {
                Poll::Ready(Ok(1..)) => (self.heard, self.unacknowledged) = (true, true),
                Poll::Ready(ended) => return Poll::Ready(self.ended(ended.is_ok())),
                Poll::Pending => {
                    // Many servers write an answer's head and its body separately, and leave Nagle's algorithm on: their system
                    // holds the body back until it knows that the head has come, which ours would put off for 40 ms.
                    if std::mem::take(&mut self.unacknowledged) {
                        self.connection.stream.acknowledge();
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    fn send(&mut self, turn: &mut Context<'_>) {
        if self.sending == Sending::UnderWay {
            match self.poll_send(turn) {
                Poll::Ready(Ok(())) => self.sending = Sending::Done,
                Poll::Ready(Err(_)) => self.sending = Sending::Broken,
                Poll::Pending => {}
            }
        }
    }

    fn poll_send(&mut self, turn: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(&mut self.connection.stream);
        while self.sent < self.request.len() {
            let pieces = self.request.after(self.sent);
            let written = match &pieces {
                [one, none] if none.is_empty() => stream.as_mut().poll_write(turn, one),
                pieces => stream.as_mut().poll_write_vectored(turn, pieces),
            };
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.sent += count,
            }
        }
        stream.poll_flush(turn)
    }

    fn receive(&mut self, turn: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Connection { stream, inbox, .. } = &mut *self.connection;
        pin!(stream.read_buf(inbox.with_room())).poll(turn)
    }

    /// What is made of the connection's end, which was an error or not.
    fn ended(&mut self, well: bool) -> Result<Response, Failed> {
        match self.answer.at_close().filter(|_| well) {
            Some(response) => Ok(response),
            None if self.heard => Err(Failed::Broken(TransportError::Closed)),
            None if self.sent == 0 => Err(Failed::Unsent),
            None => Err(Failed::Unheard),
        }
    }
}
