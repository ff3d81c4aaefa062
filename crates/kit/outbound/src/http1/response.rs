//! Reads a response incrementally.

use super::{Body, EncodedRequest, NOT_HTTP, Progress, ReadBuffer, ResponseHead};
use crate::client::Response;
use crate::error::TransportError;

/// Maximum number of interim responses (1xx) before a response. Servers send one or two.
const INTERIM_RESPONSES_MAX: usize = 32;

/// Bytes of an answer that is not HTTP which the error quotes.
const BEGINNING_BYTES_MAX: usize = 40;

/// A response that is being read.
pub(crate) struct ResponseReader {
    /// The head, once it is complete, and the body.
    head_and_body: Option<(ResponseHead, Body)>,
    /// Number of received bytes that were scanned without finding the end of the head.
    scanned: usize,
    /// Number of interim responses that were read.
    interim_responses: usize,
    may_have_body: bool,
    /// Bytes that the rest of the heads may have: those of interim responses and of the response together.
    head_bytes_left: usize,
    body_bytes_max: usize,
}

impl ResponseReader {
    /// A reader for the response to `request`, with at most `head_bytes_max` bytes of heads, those of interim responses
    /// included, and `body_bytes_max` of body.
    pub(crate) fn new(request: &EncodedRequest, head_bytes_max: usize, body_bytes_max: usize) -> Self {
        Self {
            head_and_body: None,
            scanned: 0,
            interim_responses: 0,
            may_have_body: request.response_may_have_body,
            head_bytes_left: head_bytes_max,
            body_bytes_max,
        }
    }

    /// Decodes the received bytes. When the response is complete, returns it, and whether the connection can carry
    /// another request.
    pub(crate) fn read(&mut self, read_buffer: &mut ReadBuffer) -> Result<Option<(Response, bool)>, TransportError> {
        while self.head_and_body.is_none() {
            let Some(head) = self.read_head(read_buffer)? else { return Ok(None) };
            if !head.is_interim() {
                let body = Body::new(head.framing, self.body_bytes_max);
                self.head_and_body = Some((head, body));
            } else if self.interim_responses == INTERIM_RESPONSES_MAX {
                return Err(TransportError::Invalid("the response has too many interim (1xx) responses before it"));
            } else {
                self.interim_responses += 1;
            }
        }
        let Some((head, body)) = &mut self.head_and_body else { return Ok(None) };
        let (taken, progress) = body.take(read_buffer.unread())?;
        read_buffer.advance(taken);
        // Bytes after the response could be mistaken for the response to the next request.
        let persists = head.persists && read_buffer.unread().is_empty();
        match progress {
            Progress::Partial => Ok(None),
            Progress::Whole => {
                if persists {
                    read_buffer.shrink();
                }
                Ok(self.response(false).map(|response| (response, persists)))
            }
            Progress::Truncated => Ok(self.response(true).map(|response| (response, false))),
        }
    }

    /// The response, if it is complete when the connection ends now.
    pub(crate) fn finish_at_close(&mut self) -> Option<Response> {
        self.head_and_body.as_ref().filter(|(_, body)| body.is_complete_at_close())?;
        self.response(false)
    }

    /// Bytes of the body that arrived, and those that it was to have if the server declared it.
    pub(crate) fn body_progress(&self) -> (u64, Option<u64>) {
        self.head_and_body.as_ref().map_or((0, None), |(_, body)| body.progress())
    }

    fn read_head(&mut self, read_buffer: &mut ReadBuffer) -> Result<Option<ResponseHead>, TransportError> {
        let bytes = read_buffer.unread();
        // A head may arrive byte by byte: parse it only the first time and when it may have ended.
        let may_be_whole = self.scanned == 0 || has_end(&bytes[self.scanned.saturating_sub(2)..]);
        if may_be_whole
            && !bytes.is_empty()
            && let Some((length, head)) =
                ResponseHead::parse(bytes, self.may_have_body).map_err(|error| with_beginning(error, bytes))?
        {
            let left = self.head_bytes_left.checked_sub(length);
            self.head_bytes_left = left.ok_or(TransportError::HeaderTooLarge)?;
            read_buffer.advance(length);
            self.scanned = 0;
            return Ok(Some(head));
        }
        self.scanned = bytes.len();
        if self.scanned >= self.head_bytes_left {
            return Err(TransportError::HeaderTooLarge);
        }
        Ok(None)
    }

    fn response(&mut self, truncated: bool) -> Option<Response> {
        let (head, body) = self.head_and_body.take()?;
        Some(Response { status: head.status, headers: head.headers, body: body.into_bytes(), truncated })
    }
}

/// The error for bytes that are not HTTP, with the first of them.
fn with_beginning(error: TransportError, bytes: &[u8]) -> TransportError {
    if error != NOT_HTTP || bytes.starts_with(b"HTTP/") {
        return error;
    }
    TransportError::NotHttp { beginning: bytes[..bytes.len().min(BEGINNING_BYTES_MAX)].escape_ascii().to_string() }
}

/// Whether the bytes contain an empty line, which ends a head.
fn has_end(bytes: &[u8]) -> bool {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| &bytes[at + 1..]);
    ends.into_iter().any(|after| matches!(after, [b'\n', ..] | [b'\r', b'\n', ..]))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{Method, Uri};

    use super::*;
    use crate::headers::Headers;

    /// Reads these bytes in chunks of this size before the connection ends: status, body and whether the connection
    /// persists.
    fn read(bytes: &str, piece: usize) -> Result<Option<(u16, Bytes, bool)>, TransportError> {
        let (to, headers) = (Uri::from_static("http://h/").into(), Headers::default());
        let request = EncodedRequest::new(&Method::GET, &to, &headers, Bytes::new())?;
        let (mut reader, mut read_buffer) = (ResponseReader::new(&request, 1_000, 6), ReadBuffer::default());
        for piece in bytes.as_bytes().chunks(piece) {
            read_buffer.spare().extend_from_slice(piece);
            if let Some((response, persists)) = reader.read(&mut read_buffer)? {
                return Ok(Some((response.status.as_u16(), response.body, persists)));
            }
        }
        Ok(reader.finish_at_close().map(|response| (response.status.as_u16(), response.body, false)))
    }

    #[test]
    fn a_response_is_decoded_in_chunks_of_any_size() {
        for (bytes, status, body, persists) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfive", 200, "five", true),
            ("HTTP/1.1 200 OK\ncontent-length: 4\n\nfive", 200, "five", true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfive more", 200, "five m", false),
            ("HTTP/1.1 500 No\r\n\r\nfive", 500, "five", false),
            ("HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 204 x\r\n\r\n", 204, "", true),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfive\r\n0\r\n\r\n", 200, "five", true),
        ] {
            for piece in 1..=bytes.len() {
                let expected = (status, Bytes::from_static(body.as_bytes()), persists);
                assert_eq!(read(bytes, piece), Ok(Some(expected)), "{bytes:?} by {piece}");
            }
        }
    }

    #[test]
    fn a_connection_with_bytes_after_the_response_is_not_reused() {
        let bytes = "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
        assert_eq!(read(bytes, bytes.len()), Ok(Some((204, Bytes::new(), false))));
    }

    #[test]
    fn interim_responses_are_limited_in_number_and_count_as_header_bytes() {
        let (interim, last) = ("HTTP/1.1 103 x\r\n\r\n", "HTTP/1.1 204 x\r\n\r\n");
        let after = |count: usize| format!("{}{last}", interim.repeat(count));
        let long = |bytes: usize| format!("HTTP/1.1 103 x\r\na: {}\r\n\r\n{last}", "b".repeat(bytes));
        // All heads together have 1,000 bytes.
        let full = 1_000 - long(0).len();
        for (bytes, expected) in [
            (after(INTERIM_RESPONSES_MAX), Ok(Some((204, Bytes::new(), true)))),
            (long(full), Ok(Some((204, Bytes::new(), true)))),
            (long(full + 1), Err("header_too_large")),
            (after(INTERIM_RESPONSES_MAX + 1), Err("invalid")),
            (interim.repeat(INTERIM_RESPONSES_MAX + 1), Err("invalid")),
        ] {
            for piece in [1, 7, bytes.len()] {
                let outcome = read(&bytes, piece).map_err(|error| error.code());
                assert_eq!(outcome, expected, "{} bytes by {piece}", bytes.len());
            }
        }
    }

    #[test]
    fn an_incomplete_response_is_none_and_a_head_is_limited() {
        for part in ["", "HTTP/1.1 200 OK\r\na: b\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfive"] {
            assert_eq!(read(part, 1), Ok(None), "{part:?}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(2_000));
        for piece in [1, 100, endless.len()] {
            assert_eq!(read(&endless, piece), Err(TransportError::HeaderTooLarge), "{piece}");
        }
    }
}
