//! One connection of hyper's HTTP/1.1 client. The caller's task runs it while a request is in flight
//! ([`crate::exchange`]); no task runs beside a request.

use std::pin::Pin;
use std::task::{Context, Waker};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use crate::error::TransportError;
use crate::stream::Stream;
use crate::wire::{ConnectionEnd, Wire};

/// An open connection without a request in flight. Dropping it closes it.
pub(crate) struct Connection {
    pub(crate) sender: http1::SendRequest<Full<Bytes>>,
    driver: http1::Connection<TokioIo<Wire>, Full<Bytes>>,
    pub(crate) wire: Wire,
    /// Whether the driver has ended.
    is_finished: bool,
    /// Whether the last request was written and its response read completely, and the server keeps the connection open.
    pub(crate) is_reusable: bool,
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

impl From<ConnectionEnd> for TransportError {
    fn from(end: ConnectionEnd) -> Self {
        match end {
            ConnectionEnd::Closed => Self::Closed,
            ConnectionEnd::Reset => Self::Reset,
        }
    }
}

impl Connection {
    /// A connection that reads at most `head_bytes_max` bytes (at least 8 KiB) of a response's status line and headers,
    /// and as many of its trailers. hyper's own limits hold besides: 100 headers, 100 trailers, and 16 KiB of chunk
    /// extensions in a response. Its read buffer has at most `head_bytes_max` bytes too.
    pub(crate) async fn new(stream: Stream, head_bytes_max: usize) -> Result<Self, TransportError> {
        let wire = Wire::new(stream, head_bytes_max);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(head_bytes_max).max_header_size(head_bytes_max);
        let io = TokioIo::new(wire.clone());
        // The handshake of HTTP/1.1 moves no bytes.
        let (sender, driver) = builder.handshake(io).await.map_err(|_| TransportError::Closed)?;
        Ok(Self { sender, driver, wire, is_finished: false, is_reusable: true })
    }

    /// Whether the connection could carry another request after the last response. [`Self::is_open`] checks it again
    /// before the next request.
    pub(crate) fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    /// Whether the connection can carry another request: since the last response the server has neither closed it nor
    /// sent bytes. The check reads once and wakes nothing later.
    pub(crate) fn is_open(&mut self) -> bool {
        self.is_reusable && self.drive(&mut Context::from_waker(Waker::noop()))
    }

    /// Writes and reads as much as is possible without waiting. False when the connection has ended.
    pub(crate) fn drive(&mut self, cx: &mut Context<'_>) -> bool {
        self.is_finished = self.is_finished || Pin::new(&mut self.driver).poll(cx).is_ready();
        !self.is_finished
    }
}
