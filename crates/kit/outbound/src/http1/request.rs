//! Encodes a request.

use std::io::{IoSlice, Write as _};

use bytes::Bytes;
use http::Method;

use crate::destination::Destination;
use crate::error::TransportError;
use crate::headers::Headers;

/// Bodies up to this size are copied behind the head: one write costs less than a vectored one and the copy together.
const SINGLE_WRITE_BYTES_MAX: usize = 4 * 1024;
/// Upper bound of the bytes of the method and of the `content-length` line.
const REQUEST_LINE_BYTES: usize = 64;

/// An encoded request.
pub(crate) struct EncodedRequest {
    /// The head, and a small body.
    first: Vec<u8>,
    /// A large body.
    rest: Bytes,
    /// Whether the response may have a body (RFC 9112, section 6.3).
    pub(super) response_may_have_body: bool,
}

impl EncodedRequest {
    /// Encodes a request. The error says why it can't be sent.
    pub(crate) fn new(
        method: &Method,
        to: &Destination,
        headers: &Headers,
        body: Bytes,
    ) -> Result<Self, TransportError> {
        if *method == Method::CONNECT {
            return Err(TransportError::Invalid("CONNECT requests are not sent"));
        }
        let (start, headers) = (&to.target()?.lines, headers.lines()?);
        let is_joined = body.len() <= SINGLE_WRITE_BYTES_MAX;
        let joined = if is_joined { body.len() } else { 0 };
        let mut first = Vec::with_capacity(start.len() + headers.len() + REQUEST_LINE_BYTES + joined);
        for bytes in [method.as_str().as_bytes(), start.as_bytes(), headers] {
            first.extend_from_slice(bytes);
        }
        if !body.is_empty() || !matches!(*method, Method::GET | Method::HEAD) {
            // Writing to a vector does not fail.
            let _ = write!(first, "content-length: {}\r\n", body.len());
        }
        first.extend_from_slice(b"\r\n");
        let mut rest = Bytes::new();
        if is_joined {
            first.extend_from_slice(&body);
        } else {
            rest = body;
        }
        Ok(Self { first, rest, response_may_have_body: *method != Method::HEAD })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.rest.len()
    }

    /// The bytes that are left after `sent`, in at most two slices; the second may be empty.
    pub(crate) fn unwritten(&self, sent: usize) -> [IoSlice<'_>; 2] {
        match sent.checked_sub(self.first.len()) {
            None => [IoSlice::new(&self.first[sent..]), IoSlice::new(&self.rest)],
            Some(of_rest) => [IoSlice::new(&self.rest[of_rest..]), IoSlice::new(&[])],
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, Uri};

    use super::*;

    fn request(uri: &'static str, method: Method, body: &[u8]) -> EncodedRequest {
        let mut headers = Headers::default();
        headers.add(&HeaderName::from_static("x-a"), b"1");
        headers.add(&HeaderName::from_static("x-a"), b"2 \xe9");
        let to = Uri::from_static(uri).into();
        EncodedRequest::new(&method, &to, &headers, Bytes::copy_from_slice(body)).unwrap()
    }

    fn text(request: &EncodedRequest) -> Vec<u8> {
        request.unwritten(0).concat_pieces()
    }

    trait Pieces {
        fn concat_pieces(&self) -> Vec<u8>;
    }

    impl Pieces for [IoSlice<'_>; 2] {
        fn concat_pieces(&self) -> Vec<u8> {
            [&*self[0], &*self[1]].concat()
        }
    }

    #[test]
    fn a_request_has_its_host_and_length() {
        const HEADERS: &[u8] = b" HTTP/1.1\r\nhost: h:81\r\nx-a: 1\r\nx-a: 2 \xe9\r\n";
        for (uri, method, body, line, end) in [
            ("http://h:81", Method::GET, "", "GET /", "\r\n"),
            ("http://h:81?q", Method::HEAD, "", "HEAD /?q", "\r\n"),
            ("http://h:81/a%20b?c=/d", Method::POST, "", "POST /a%20b?c=/d", "content-length: 0\r\n\r\n"),
            ("http://h:81/", Method::PUT, "body", "PUT /", "content-length: 4\r\n\r\nbody"),
            ("http://h:81/", Method::GET, "body", "GET /", "content-length: 4\r\n\r\nbody"),
        ] {
            let written = text(&request(uri, method, body.as_bytes()));
            assert_eq!(written, [line.as_bytes(), HEADERS, end.as_bytes()].concat(), "{uri}");
        }
    }

    #[test]
    fn the_unwritten_bytes_follow_the_sent_ones() {
        for bytes in [0, 10, SINGLE_WRITE_BYTES_MAX, SINGLE_WRITE_BYTES_MAX + 1, 100_000] {
            let request = request("http://h:81/", Method::POST, &vec![b'x'; bytes]);
            let whole = text(&request);
            assert_eq!(request.len(), whole.len());
            assert_eq!(request.unwritten(0)[1].is_empty(), bytes <= SINGLE_WRITE_BYTES_MAX, "{bytes}");
            for sent in [1, 50, 100, 101, 102, 103, 104, 105, 106, whole.len() - 1, whole.len()] {
                let sent = sent.min(whole.len());
                assert_eq!(request.unwritten(sent).concat_pieces(), whole[sent..], "{bytes} after {sent}");
            }
        }
    }
}
