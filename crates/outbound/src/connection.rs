//! One HTTP/1.1 connection, driven by whoever waits for its response.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::{TrySendError, http1};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;

use crate::client::Response;
use crate::error::TransportError;
use crate::heard::{Heard, Listening};
use crate::prompt::{Awaited, Prompt};

/// What carries a connection.
pub(crate) type Stream = MaybeHttpsStream<TokioIo<Prompt>>;

/// An open connection without a request under way. Dropping it closes it.
pub(crate) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// Reads and writes when it is polled, which is what everything here does.
    driver: Driver,
    /// Whether anything came since the last request went out.
    heard: Heard,
    awaited: Awaited,
}

/// The connection itself, until it has ended.
struct Driver(Option<Box<http1::Connection<Carrier, Full<Bytes>>>>);

type Carrier = TokioIo<Listening<TokioIo<Stream>>>;

/// Why a request got no response.
pub(crate) enum Failed {
    /// Nothing of it was written: the other side had closed the connection before. Here it is again.
    Unsent(Box<http::Request<Full<Bytes>>>),
    /// The other side ended the connection before a byte of its answer came. If the connection had been used before, it was
    /// most likely closed as idle just then, and the request was never looked at.
    Unheard,
    /// It may have arrived.
    Broken(TransportError),
}

impl Connection {
    /// Begins to speak HTTP. At most `header_bytes_max` bytes of a response's status line and headers are read.
    pub(crate) async fn begin(stream: Stream, header_bytes_max: usize) -> Result<Self, TransportError> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(header_bytes_max);
        let (heard, awaited) = (Heard::default(), awaited(&stream));
        let carrier = TokioIo::new(Listening::new(TokioIo::new(stream), heard.clone()));
        let (mut sender, driver) =
            builder.handshake(carrier).await.map_err(|error| TransportError::from_hyper(&error))?;
        let mut driver = Driver(Some(Box::new(driver)));
        // It takes its first request after the driver's first turn. That it is closed already shows when that is sent.
        let _ = driver.during(pin!(poll_fn(|turn| sender.poll_ready(turn)))).await;
        Ok(Self { sender, driver, heard, awaited })
    }

    /// Sends a request and reads the response, of its body at most `body_bytes_max`.
    pub(crate) fn exchange(
        &mut self,
        request: http::Request<Full<Bytes>>,
        body_bytes_max: usize,
    ) -> impl Future<Output = Result<Response, Failed>> + Send {
        let Self { sender, driver, heard, awaited } = self;
        async move {
            heard.forget();
            let sent = driver.during(pin!(sender.try_send_request(request))).await;
            let (parts, incoming) = sent.map_err(|error| Failed::of(error, heard))?.into_parts();
            let (body, truncated) = match incoming.is_end_stream() {
                true => (Bytes::new(), false),
                false => driver.during(pin!(read(incoming, body_bytes_max, awaited))).await.map_err(Failed::Broken)?,
            };
            Ok(Response { status: parts.status, headers: parts.headers, body, truncated })
        }
    }

    /// Whether another request could go out when the last response had been read. Less than [`Self::is_open`], which is asked before
    /// one does.
    pub(crate) fn is_ready(&mut self) -> bool {
        self.driver.0.is_some() && (self.sender.is_ready() || self.is_open())
    }

    /// Whether another request can go out: the last response was read to its end, and nobody has closed the connection
    /// since. What has come meanwhile is looked at, and nobody is woken for what comes later.
    pub(crate) fn is_open(&mut self) -> bool {
        let mut nobody = Context::from_waker(Waker::noop());
        self.driver.turn(&mut nobody);
        self.driver.0.is_some() && self.sender.is_ready()
    }
}

impl Failed {
    fn of(mut error: TrySendError<http::Request<Full<Bytes>>>, heard: &Heard) -> Self {
        match error.take_message() {
            Some(request) => Self::Unsent(Box::new(request)),
            None => match TransportError::from_hyper(error.error()) {
                TransportError::Closed if !heard.anything() => Self::Unheard,
                error => Self::Broken(error),
            },
        }
    }
}

impl Driver {
    /// Drives the connection until `work`, which waits for something of it, is done.
    async fn during<T>(&mut self, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        poll_fn(|turn| {
            self.turn(turn);
            work.as_mut().poll(turn)
        })
        .await
    }

    /// Reads and writes what is possible now. The end of the connection, with or without an error, is told to those who
    /// wait for something of it.
    fn turn(&mut self, turn: &mut Context<'_>) {
        if self.0.as_mut().is_some_and(|connection| Pin::new(connection).poll(turn).is_ready()) {
            self.0 = None;
        }
    }
}

/// At most `bytes_max` of a body, and whether there was more. What is not read is never asked for: the connection is
/// closed instead.
async fn read(mut body: Incoming, bytes_max: usize, awaited: &Awaited) -> Result<(Bytes, bool), TransportError> {
    let mut read = BytesMut::new();
    loop {
        let room = bytes_max - read.len();
        // A declared length tells that there is more without waiting for it.
        if room == 0 && body.size_hint().lower() > 0 {
            return Ok((read.freeze(), true));
        }
        let Some(frame) = next(&mut body, awaited).await else {
            return Ok((read.freeze(), false));
        };
        let frame = frame.map_err(|error| TransportError::from_hyper(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        if read.is_empty() && data.len() <= room && body.is_end_stream() {
            return Ok((data, false));
        }
        read.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok((read.freeze(), true));
        }
    }
}

/// The next piece of a body. The driver's turn after it was first asked for brings what has arrived already: if there is still
/// nothing then, the server is told that what it sent has come.
async fn next(body: &mut Incoming, awaited: &Awaited) -> Option<hyper::Result<Frame<Bytes>>> {
    let mut polls = 0_u8;
    poll_fn(|turn| {
        let polled = Pin::new(&mut *body).poll_frame(turn);
        if polled.is_pending() && polls < 2 {
            polls += 1;
            if polls == 2 {
                awaited.set();
                turn.waker().wake_by_ref();
            }
        }
        polled
    })
    .await
}

fn awaited(stream: &Stream) -> Awaited {
    match stream {
        MaybeHttpsStream::Http(tcp) => tcp.inner().awaited(),
        MaybeHttpsStream::Https(tls) => tls.inner().get_ref().0.inner().inner().awaited(),
    }
}
