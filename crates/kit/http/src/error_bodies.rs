//! Adds JSON bodies to the error responses that the HTTP library sends by itself, such as the one to malformed bytes.
//! They have no body, and clients expect a body in every error.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::lingering_close::StillSending;
use crate::write_coalescing::poll_write_coalesced;

/// Maximum size of such a response: a status line and three headers.
const BYTES_MAX: usize = 256;
const EMPTY_CONTENT_LENGTH: &[u8] = b"content-length: 0\r\n";

/// The start of such a response, and the code and detail of its body.
const ERRORS_BY_STATUS_LINE: [(&[u8], ErrorText); 3] = [
    (b"HTTP/1.1 400 ", ErrorText { code: "malformed_request", detail: "the request is not valid HTTP" }),
    (b"HTTP/1.1 414 ", ErrorText { code: "address_too_long", detail: "the address of the request is too long" }),
    (b"HTTP/1.1 431 ", HEADERS_TOO_LARGE),
];
pub(crate) const HEADERS_TOO_LARGE: ErrorText =
    ErrorText { code: "headers_too_large", detail: "the headers of the request are too many or too large" };

/// The code and detail of an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorText {
    pub(crate) code: &'static str,
    pub(crate) detail: &'static str,
}

/// A complete response for a request that the server rejects before a surface sees it.
pub(crate) fn response(status: StatusCode, text: ErrorText) -> Response<Body> {
    let mut response = Response::new(Body::from(body(status.as_u16(), text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

/// A connection that adds bodies to responses without one.
pub(crate) struct ErrorBodyStream<S> {
    stream: S,
    /// Set with such a response: the client may be in the middle of a request.
    still_sending: StillSending,
    /// The response with a body that is being written, and the number of written bytes.
    answer: Option<(Vec<u8>, usize)>,
}

impl<S> ErrorBodyStream<S> {
    pub(crate) fn new(stream: S, still_sending: StillSending) -> Self {
        Self { stream, still_sending, answer: None }
    }
}

impl<S: AsyncWrite + Unpin> ErrorBodyStream<S> {
    /// Writes the response that replaces one of `len` bytes without a body.
    fn poll_answer(&mut self, context: &mut Context<'_>, len: usize) -> Poll<io::Result<usize>> {
        while let Some((answer, written)) = &mut self.answer {
            let rest = answer.get(*written..).unwrap_or_default();
            if rest.is_empty() {
                self.answer = None;
                break;
            }
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
        }
        Poll::Ready(Ok(len))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ErrorBodyStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ErrorBodyStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.answer.is_none() {
            let Some(answer) = with_body(bytes) else { return Pin::new(&mut self.stream).poll_write(context, bytes) };
            self.still_sending.set();
            self.answer = Some((answer, 0));
        }
        self.poll_answer(context, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            [only] => self.poll_write(context, only),
            _ => poll_write_coalesced(Pin::new(&mut self.stream), context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The response with a body, if these bytes are one without a body.
fn with_body(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > BYTES_MAX || !bytes.starts_with(b"HTTP/1.1 4") {
        return None;
    }
    let (_, words) = ERRORS_BY_STATUS_LINE.iter().find(|(start, _)| bytes.starts_with(start))?;
    let at = bytes.windows(EMPTY_CONTENT_LENGTH.len()).position(|window| window == EMPTY_CONTENT_LENGTH)?;
    let head = bytes.strip_suffix(b"\r\n\r\n")?;
    let status = std::str::from_utf8(head.get(9..12)?).ok()?.parse().ok()?;
    let body = body(status, *words);
    let mut answer = head.get(..at)?.to_vec();
    answer.extend_from_slice(b"content-type: application/problem+json\r\n");
    answer.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    answer.extend_from_slice(bytes.get(at + EMPTY_CONTENT_LENGTH.len()..)?);
    answer.extend_from_slice(body.as_bytes());
    Some(answer)
}

/// A body that fits both error formats of the surfaces: a problem (RFC 9457), which includes `{code, detail}`.
pub(crate) fn body(status: u16, ErrorText { code, detail }: ErrorText) -> String {
    format!("{{\"type\":\"about:blank\",\"status\":{status},\"code\":\"{code}\",\"detail\":\"{detail}\"}}")
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const BARE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
        date: Sat, 21 Nov 2026 19:00:00 GMT\r\n\r\n";

    async fn sent(bytes: &[u8], room: usize) -> String {
        let (near, mut far) = tokio::io::duplex(room);
        let mut stream = ErrorBodyStream::new(near, StillSending::default());
        let write = async {
            stream.write_all(bytes).await.unwrap();
            stream.shutdown().await.unwrap();
        };
        let mut text = String::new();
        let ((), read) = tokio::join!(write, far.read_to_string(&mut text));
        read.unwrap();
        text
    }

    #[tokio::test]
    async fn a_response_without_a_body_gets_one_also_in_small_writes() {
        for room in [4_096, 7] {
            let text = sent(BARE, room).await;
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())) && head.contains("connection: close"));
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!((&body["code"], &body["status"]), (&"headers_too_large".into(), &431.into()));
        }
    }

    #[tokio::test]
    async fn other_bytes_are_written_unchanged() {
        for bytes in [
            &b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            b"HTTP/1.1 204 No Content\r\n\r\n",
            b"PRI * HTTP/2.0",
            &[b'x'; 2_000],
        ] {
            assert_eq!(sent(bytes, 64).await.as_bytes(), bytes);
        }
    }
}
