//! The exchange of a request for a response on a connection. It runs in the caller's task.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri, Version, header};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;

use crate::client::Response;
use crate::connection::{Connection, ExchangeError};
use crate::destination::Destination;
use crate::error::{BodyFault, TransportError};
use crate::headers::Headers;
use crate::phase_times::{Phase, PhaseTimer};
use crate::time_limit::TimeLimit;
use crate::wire::{ConnectionEnd, InterimExcess, Wire};

/// A request that can be sent on one connection after another.
pub(crate) struct PreparedRequest {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl PreparedRequest {
    /// Adds the headers that only the client sets. The error says why the request can't be sent.
    pub(crate) fn new(method: Method, to: &Destination, headers: Headers, body: Bytes) -> Result<Self, TransportError> {
        if method == Method::CONNECT {
            return Err(TransportError::Invalid("CONNECT requests are not sent"));
        }
        let (target, given) = (to.target()?, headers.into_map()?);
        let mut headers = HeaderMap::with_capacity(given.len() + 2);
        headers.insert(header::HOST, target.host.clone());
        headers.extend(given);
        if !body.is_empty() || !matches!(method, Method::GET | Method::HEAD) {
            headers.insert(header::CONTENT_LENGTH, body.len().into());
        }
        Ok(Self { method, uri: target.uri.clone(), headers, body })
    }

    /// The request for hyper, which reports the interim responses to it.
    fn to_hyper(&self, wire: &Wire) -> http::Request<Full<Bytes>> {
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        let wire = wire.clone();
        hyper::ext::on_informational(&mut request, move |interim| {
            wire.lock().add_interim_response(head_bytes(interim.headers()));
        });
        request
    }
}

/// A response whose head has arrived.
struct PartialResponse {
    status: StatusCode,
    version: Version,
    headers: HeaderMap,
    body: Incoming,
    /// The bytes of the body that arrived, up to the limit.
    read: Vec<u8>,
}

impl Connection {
    /// Sends a request and reads the response, with at most `body_bytes_max` of its body.
    pub(crate) async fn exchange(
        &mut self,
        request: &PreparedRequest,
        body_bytes_max: usize,
        limit: TimeLimit,
        timer: &mut PhaseTimer,
    ) -> Result<Response, ExchangeError> {
        timer.begin(Phase::Wait);
        self.is_reusable = false;
        self.wire.lock().begin(body_bytes_max);
        let mut head = pin!(self.sender.send_request(request.to_hyper(&self.wire)));
        let mut partial: Option<PartialResponse> = None;
        let exchanged = poll_fn(|cx| {
            self.drive(cx);
            let partial = match &mut partial {
                Some(partial) => partial,
                none => match head.as_mut().poll(cx) {
                    Poll::Ready(Ok(response)) => match self.accept(response) {
                        Ok(response) => none.insert(response),
                        Err(error) => return Poll::Ready(Err(error)),
                    },
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(self.fault(&error, None))),
                    Poll::Pending => {
                        self.wire.lock().acknowledge();
                        return Poll::Pending;
                    }
                },
            };
            let mut outcome = partial.poll_body(cx, body_bytes_max);
            if outcome.is_pending() {
                // The body has made room, so hyper can read more of it.
                self.drive(cx);
                outcome = partial.poll_body(cx, body_bytes_max);
            }
            match outcome {
                Poll::Ready(Ok(truncated)) => Poll::Ready(Ok(partial.finish(truncated))),
                Poll::Ready(Err(error)) => Poll::Ready(Err(self.fault(&error, Some(partial)))),
                Poll::Pending => {
                    self.wire.lock().acknowledge();
                    Poll::Pending
                }
            }
        });
        let exchanged = limit.run(exchanged).await;
        if let Some(at) = self.wire.lock().traffic.first_byte_at {
            timer.begin_at(Phase::Receive, at);
        }
        let (response, ends_for_certain) = match exchanged {
            Ok(outcome) => outcome?,
            Err(_) => return Err(ExchangeError::Transport(self.late(partial, limit.ms))),
        };
        // hyper is ready for another request when both messages are complete and no bytes follow: they could be mistaken
        // for the response to the next request.
        self.is_reusable = ends_for_certain && self.sender.is_ready() && !self.wire.lock().traffic.write_failed;
        Ok(response)
    }

    /// Checks the head of a response.
    fn accept(&self, response: http::Response<Incoming>) -> Result<PartialResponse, ExchangeError> {
        let mut wire = self.wire.lock();
        wire.add_response(|| head_bytes(response.headers()));
        if let Some(excess) = wire.interim_excess() {
            return Err(ExchangeError::Transport(excess.into()));
        }
        let (http::response::Parts { status, version, headers, .. }, body) = response.into_parts();
        if !lengths_agree(&headers) {
            return Err(ExchangeError::Transport(TransportError::InvalidResponse));
        }
        Ok(PartialResponse { status, version, headers, body, read: Vec::new() })
    }

    /// The reason why there is no response, or only a part of one.
    fn fault(&self, error: &hyper::Error, partial: Option<&mut PartialResponse>) -> ExchangeError {
        let wire = self.wire.lock();
        let traffic = &wire.traffic;
        if let Some(excess) = wire.interim_excess() {
            return ExchangeError::Transport(excess.into());
        }
        if wire.is_too_long() {
            return ExchangeError::Transport(TransportError::InvalidResponse);
        }
        let end = traffic.end.unwrap_or(ConnectionEnd::Closed);
        // Bytes that arrived before the request was written do not belong to it.
        if traffic.sent_bytes == 0 && (traffic.received_bytes == 0 || !traffic.write_failed) {
            return ExchangeError::Unsent(end);
        }
        if traffic.received_bytes == 0 {
            return ExchangeError::NoResponse(end);
        }
        if error.is_parse_too_large() {
            return ExchangeError::Transport(TransportError::HeaderTooLarge);
        }
        // hyper reports a stream that fails in a body as it reports a body that breaks the rules of HTTP.
        let is_malformed = error.is_parse() || (partial.is_some() && traffic.end.is_none());
        ExchangeError::Transport(if !is_malformed {
            partial.map_or(TransportError::ClosedEarly, PartialResponse::closed_early)
        } else if partial.is_some() || traffic.beginning().starts_with(b"HTTP/") {
            TransportError::InvalidResponse
        } else {
            TransportError::NotHttp { beginning: traffic.beginning().escape_ascii().to_string() }
        })
    }

    /// The error of the step in which the limit was reached.
    fn late(&self, partial: Option<PartialResponse>, limit_ms: u64) -> TransportError {
        match partial {
            Some(mut partial) => partial.incomplete(BodyFault::Timeout { limit_ms }),
            None if self.wire.lock().traffic.is_writing => TransportError::SendTimeout { limit_ms },
            None => TransportError::Timeout { limit_ms },
        }
    }
}

impl PartialResponse {
    /// Reads the body until it ends or exceeds the limit, and returns whether it exceeds the limit.
    fn poll_body(&mut self, cx: &mut Context<'_>, bytes_max: usize) -> Poll<Result<bool, hyper::Error>> {
        loop {
            if self.body.is_end_stream() {
                return Poll::Ready(Ok(false));
            }
            // The server declared more bytes: no need to wait for them.
            if self.read.len() == bytes_max && self.body.size_hint().lower() > 0 {
                return Poll::Ready(Ok(true));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => return Poll::Ready(Ok(false)),
                Some(Err(error)) => return Poll::Ready(Err(error)),
                Some(Ok(frame)) => {
                    // Trailers are not used.
                    let Ok(data) = frame.into_data() else { continue };
                    let room = bytes_max - self.read.len();
                    self.read.extend_from_slice(&data[..data.len().min(room)]);
                    if data.len() > room {
                        return Poll::Ready(Ok(true));
                    }
                }
            }
        }
    }

    /// The response, and whether its end is beyond doubt, so that the connection can carry another request.
    fn finish(&mut self, truncated: bool) -> (Response, bool) {
        // With both Transfer-Encoding and Content-Length the framing is ambiguous (RFC 9112, section 6.1).
        let is_ambiguous = self.headers.contains_key(header::TRANSFER_ENCODING)
            && (self.headers.contains_key(header::CONTENT_LENGTH) || self.version != Version::HTTP_11);
        let ends_for_certain = !truncated && !is_ambiguous;
        let (headers, body) = (std::mem::take(&mut self.headers), std::mem::take(&mut self.read).into());
        (Response { status: self.status, headers, body, truncated }, ends_for_certain)
    }

    /// The error of a body whose connection ended.
    fn closed_early(&mut self) -> TransportError {
        let received_bytes = self.read.len() as u64;
        let expected_bytes = self.body.size_hint().exact().map(|left| received_bytes + left);
        self.incomplete(BodyFault::ClosedEarly { received_bytes, expected_bytes })
    }

    fn incomplete(&mut self, fault: BodyFault) -> TransportError {
        TransportError::Incomplete { response: Box::new(self.finish(false).0), fault }
    }
}

impl From<InterimExcess> for TransportError {
    fn from(excess: InterimExcess) -> Self {
        match excess {
            InterimExcess::Number => Self::InterimResponses,
            InterimExcess::Bytes => Self::HeaderTooLarge,
        }
    }
}

/// The bytes of a head with a reason of one letter and without optional spaces. hyper limits the bytes of each single
/// head exactly; this is for the sum of several.
fn head_bytes(headers: &HeaderMap) -> usize {
    const STATUS_LINE_AND_END_BYTES: usize = "HTTP/1.1 200 x\r\n\r\n".len();
    let lines = headers.iter().map(|(name, value)| name.as_str().len() + ": ".len() + value.len() + "\r\n".len());
    STATUS_LINE_AND_END_BYTES + lines.sum::<usize>()
}

/// Whether all declared lengths are one number (RFC 9112, section 6.3). hyper checks them only when no other rule
/// decides where the body ends.
fn lengths_agree(headers: &HeaderMap) -> bool {
    let mut known = None;
    let lines = headers.get_all(header::CONTENT_LENGTH).iter();
    lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b',')).all(|item| {
        let digits =
            std::str::from_utf8(item.trim_ascii()).ok().filter(|item| item.bytes().all(|b| b.is_ascii_digit()));
        let length = digits.and_then(|digits| digits.parse::<u64>().ok());
        length.is_some_and(|length| known.replace(length).is_none_or(|other| other == length))
    })
}
