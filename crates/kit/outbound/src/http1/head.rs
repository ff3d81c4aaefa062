//! Parses the status line and headers of a response, and derives the framing of its body.

use std::mem::MaybeUninit;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use httparse::{Header, ParserConfig, Status};

use super::NOT_HTTP;
use crate::error::TransportError;

/// Maximum number of headers of a response.
const HEADERS_MAX: usize = 100;

/// Status and headers of a response.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) framing: Framing,
    /// Whether the server keeps the connection open after this response.
    pub(super) persists: bool,
}

/// Where a body ends (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// After this many bytes.
    Length(u64),
    /// After the last chunk.
    Chunked,
    /// When the connection ends.
    UntilClose,
}

impl ResponseHead {
    /// Parses the head at the start of these bytes: its length and the head; none while its end is missing.
    pub(super) fn parse(bytes: &[u8], may_have_body: bool) -> Result<Option<(usize, Self)>, TransportError> {
        let mut lines = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let length = match ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut lines)
        {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(TransportError::HeaderTooLarge),
            Err(_) => return Err(NOT_HTTP),
        };
        let status = response.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or(NOT_HTTP)?;
        let is_newest = response.version == Some(1);
        let (mut headers, mut framing_headers) =
            (HeaderMap::with_capacity(response.headers.len()), FramingHeaders::default());
        for line in &*response.headers {
            let name = HeaderName::from_bytes(line.name.as_bytes()).map_err(|_| NOT_HTTP)?;
            framing_headers.add(&name, line.value)?;
            headers.append(name, HeaderValue::from_bytes(line.value).map_err(|_| NOT_HTTP)?);
        }
        let framing = match framing_headers {
            _ if !may_have_body || is_without_body(status) => Framing::Length(0),
            FramingHeaders { transfer_encoded: true, chunked: true, .. } => Framing::Chunked,
            FramingHeaders { transfer_encoded: true, .. } => Framing::UntilClose,
            FramingHeaders { length: Some(length), .. } => Framing::Length(length),
            _ => Framing::UntilClose,
        };
        // With both Transfer-Encoding and Content-Length the framing is ambiguous: don't reuse the connection (section
        // 6.1).
        let is_plain = !framing_headers.transfer_encoded || (framing_headers.length.is_none() && is_newest);
        let persists =
            if is_newest { !framing_headers.close } else { framing_headers.keep_alive && !framing_headers.close };
        let persists =
            persists && is_plain && framing != Framing::UntilClose && status != StatusCode::SWITCHING_PROTOCOLS;
        Ok(Some((length, Self { status, headers, framing, persists })))
    }

    /// Whether this is an interim response (1xx), which the final one follows.
    pub(super) fn is_interim(&self) -> bool {
        self.status.is_informational() && self.status != StatusCode::SWITCHING_PROTOCOLS
    }
}

fn is_without_body(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The headers that control the framing and the connection.
#[derive(Default)]
struct FramingHeaders {
    length: Option<u64>,
    transfer_encoded: bool,
    /// The last of the encodings is `chunked`.
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl FramingHeaders {
    /// Adds a header, whose value may be a list.
    fn add(&mut self, name: &HeaderName, value: &[u8]) -> Result<(), TransportError> {
        let items = || value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        if name == header::CONTENT_LENGTH {
            for item in items() {
                let is_number = !item.is_empty() && item.iter().all(u8::is_ascii_digit);
                let length = std::str::from_utf8(item).ok().filter(|_| is_number).and_then(|item| item.parse().ok());
                let length = length.ok_or(NOT_HTTP)?;
                // Several lengths must be equal (section 6.3).
                if self.length.replace(length).is_some_and(|other| other != length) {
                    return Err(NOT_HTTP);
                }
            }
        } else if name == header::TRANSFER_ENCODING {
            for item in items() {
                self.transfer_encoded = true;
                self.chunked = item.eq_ignore_ascii_case(b"chunked");
            }
        } else if name == header::CONNECTION {
            for item in items() {
                self.close |= item.eq_ignore_ascii_case(b"close");
                self.keep_alive |= item.eq_ignore_ascii_case(b"keep-alive");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &str) -> Result<ResponseHead, TransportError> {
        let text = format!("{}\r\n\r\n", lines.replace('\n', "\r\n"));
        let (length, head) = ResponseHead::parse(format!("{text}rest").as_bytes(), true)?.expect("it is whole");
        assert_eq!(length, text.len());
        Ok(head)
    }

    #[test]
    fn headers_say_where_a_body_ends_and_whether_the_connection_stays() {
        use Framing::{Chunked, Length, UntilClose};
        for (lines, framing, persists) in [
            ("HTTP/1.1 200 OK", UntilClose, false),
            ("HTTP/1.1 200 OK\ncontent-length: 12", Length(12), true),
            ("HTTP/1.1 200 OK\ncontent-length: 12\nContent-Length: 12, 12", Length(12), true),
            ("HTTP/1.1 200 OK\ncontent-length: 12\nconnection: close", Length(12), false),
            ("HTTP/1.1 200 OK\ncontent-length: 12\nconnection: x, Close", Length(12), false),
            ("HTTP/1.1 200 OK\ntransfer-encoding: chunked", Chunked, true),
            ("HTTP/1.1 200 OK\ntransfer-encoding: gzip, Chunked", Chunked, true),
            ("HTTP/1.1 200 OK\ntransfer-encoding: chunked, gzip", UntilClose, false),
            ("HTTP/1.1 200 OK\ntransfer-encoding: chunked\ncontent-length: 12", Chunked, false),
            ("HTTP/1.1 204 No Content", Length(0), true),
            ("HTTP/1.1 304 Not Modified\ncontent-length: 12", Length(0), true),
            ("HTTP/1.1 101 Switching Protocols\nconnection: upgrade", Length(0), false),
            ("HTTP/1.0 200 OK\ncontent-length: 12", Length(12), false),
            ("HTTP/1.0 200 OK\ncontent-length: 12\nconnection: keep-alive", Length(12), true),
            ("HTTP/1.0 200 OK\ntransfer-encoding: chunked\nconnection: keep-alive", Chunked, false),
            ("HTTP/1.1 299", UntilClose, false),
        ] {
            let head = head(lines).unwrap();
            assert_eq!((head.framing, head.persists), (framing, persists), "{lines}");
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let (_, head) = ResponseHead::parse(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n", false).unwrap().unwrap();
        assert_eq!((head.framing, head.persists), (Framing::Length(0), true));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for lines in [
            "HTTP/1.1 200 OK\ncontent-length: 12\ncontent-length: 13",
            "HTTP/1.1 200 OK\ncontent-length: 1, 2",
            "HTTP/1.1 200 OK\ncontent-length: ",
            "HTTP/1.1 200 OK\ncontent-length: -1",
            "HTTP/1.1 200 OK\ncontent-length: +1",
            "HTTP/1.1 200 OK\ncontent-length: 99999999999999999999",
            "HTTP/1.1 200 OK\ncontent-length : 1",
            "HTTP/1.1 200 OK\na: b\n folded: c",
            "HTTP/1.1 020 OK",
            "HTTP/2 200 OK",
            "HTTP/1.1 2000 OK",
            "ICY 200 OK",
        ] {
            assert_eq!(head(lines).unwrap_err(), NOT_HTTP, "{lines}");
        }
    }

    #[test]
    fn headers_are_kept_and_bounded_and_a_part_is_no_head() {
        let many = |count: usize| format!("HTTP/1.1 200 OK{}", "\na: b".repeat(count));
        assert_eq!(head(&many(HEADERS_MAX)).unwrap().headers.get_all("a").iter().count(), HEADERS_MAX);
        assert_eq!(head(&many(HEADERS_MAX + 1)).unwrap_err(), TransportError::HeaderTooLarge);
        let text = b"HTTP/1.1 429 Slow\r\nretry-after: 12\r\n\r\n";
        for cut in 0..text.len() {
            assert!(ResponseHead::parse(&text[..cut], true).unwrap().is_none(), "{cut}");
        }
        assert_eq!(ResponseHead::parse(text, true).unwrap().unwrap().1.headers["retry-after"], "12");
    }

    #[test]
    fn what_comes_before_an_answer_is_told_from_it() {
        for (code, is_interim) in [(100, true), (103, true), (101, false), (200, false)] {
            assert_eq!(head(&format!("HTTP/1.1 {code} x")).unwrap().is_interim(), is_interim, "{code}");
        }
    }
}
