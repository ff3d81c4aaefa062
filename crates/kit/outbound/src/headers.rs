//! Headers of a request, as they are written.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::TransportError;

/// They say where a request goes and where it ends: given by a customer they could smuggle in another one.
pub(crate) const RESERVED_HEADERS: [&str; 8] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"];

/// Header lines in the order in which they were added. What is the same for many requests is written once, and a clone is a copy of
/// the text.
///
/// A header that only the client may set, or a value that can't be one, is not added: the request will be refused.
#[derive(Clone, Default)]
pub struct Headers {
    lines: Vec<u8>,
    error: Option<&'static str>,
}

impl Headers {
    /// No headers, with room for so many bytes of them.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { lines: Vec::with_capacity(bytes), error: None }
    }

    /// The same headers, with room for so many bytes more.
    #[must_use]
    pub fn with_room(&self, bytes: usize) -> Self {
        let mut lines = Vec::with_capacity(self.lines.len() + bytes);
        lines.extend_from_slice(&self.lines);
        Self { lines, error: self.error }
    }

    /// Adds a header beside those that are there, also those of its name.
    pub fn add(&mut self, name: &HeaderName, value: &[u8]) {
        if RESERVED_HEADERS.contains(&name.as_str()) {
            self.error = Some("the request has a header that only the client may set");
        } else if has_control_character(value) {
            self.error = Some("the request has a header with a control character in it");
        } else {
            for bytes in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
                self.lines.extend_from_slice(bytes);
            }
        }
    }

    /// The first value of a header; names are in lower case.
    pub fn get(&self, name: &str) -> Option<HeaderValue> {
        let mut lines = self.lines.split(|byte| *byte == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b": ")?.strip_suffix(b"\r"));
        HeaderValue::from_bytes(value?).ok()
    }

    /// The lines, each with its end.
    pub(crate) fn lines(&self) -> Result<&[u8], TransportError> {
        self.error.map_or(Ok(&self.lines), |error| Err(TransportError::Invalid(error)))
    }
}

impl From<&HeaderMap> for Headers {
    fn from(map: &HeaderMap) -> Self {
        let mut headers = Self::default();
        map.iter().for_each(|(name, value)| headers.add(name, value.as_bytes()));
        headers
    }
}

impl From<HeaderMap> for Headers {
    fn from(map: HeaderMap) -> Self {
        Self::from(&map)
    }
}

/// Whether a value has one that a header can't (RFC 9110, section 5.5). All bytes are looked at, many at a time.
fn has_control_character(value: &[u8]) -> bool {
    value.iter().fold(false, |found, byte| found | (*byte < b' ' && *byte != b'\t') | (*byte == 0x7F))
}

/// Without the values: some are secret.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Headers({} bytes)", self.lines.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_written_in_their_order_and_found_by_name() {
        let mut headers = Headers::with_capacity(10);
        for (name, value) in [("x-a-b", &b"1"[..]), ("x-a", b"2"), ("x-a", b"\t\xe9"), ("x-empty", b"")] {
            headers.add(&HeaderName::from_static(name), value);
        }
        let headers = headers.with_room(100);
        assert_eq!(headers.lines(), Ok(&b"x-a-b: 1\r\nx-a: 2\r\nx-a: \t\xe9\r\nx-empty: \r\n"[..]));
        for (name, value) in [("x-a", Some("2")), ("x-a-b", Some("1")), ("x-empty", Some("")), ("x", None)] {
            assert_eq!(headers.get(name).as_ref().map(|value| value.to_str().unwrap()), value, "{name}");
        }
        assert_eq!(format!("{headers:?}"), "Headers(38 bytes)");
    }

    #[test]
    fn what_would_end_a_line_or_steer_the_connection_is_refused() {
        for value in [&b"a\r\nb: c"[..], b"a\nb", b"\0", b"a\x7f"] {
            let mut headers = Headers::default();
            headers.add(&HeaderName::from_static("x-a"), value);
            assert!(headers.lines().is_err() && headers.clone().with_room(1).lines().is_err(), "{value:?}");
        }
        for name in RESERVED_HEADERS {
            let map = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static("1"))]);
            assert!(Headers::from(map).lines().is_err());
        }
    }
}
