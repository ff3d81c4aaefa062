//! Headers of a request in their encoded form.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::TransportError;

/// Headers that control the connection and the framing. From a customer they would allow request smuggling.
pub(crate) const RESERVED_HEADERS: [&str; 8] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"];

/// Header lines in the order in which they were added. Headers that many requests share are encoded once and cloned.
///
/// A reserved header or an invalid value is not added, and sending the request fails with [`TransportError::Invalid`].
#[derive(Clone, Default)]
pub struct Headers {
    lines: Vec<u8>,
    error: Option<&'static str>,
}

impl Headers {
    /// No headers, with capacity for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { lines: Vec::with_capacity(bytes), error: None }
    }

    /// A copy with capacity for `bytes` more.
    #[must_use]
    pub fn with_room(&self, bytes: usize) -> Self {
        let mut lines = Vec::with_capacity(self.lines.len() + bytes);
        lines.extend_from_slice(&self.lines);
        Self { lines, error: self.error }
    }

    /// Adds a header. Existing headers with the same name stay.
    pub fn add(&mut self, name: &HeaderName, value: &[u8]) {
        if RESERVED_HEADERS.contains(&name.as_str()) {
            self.error = Some("the request has a header that only the client may set, such as Host or Content-Length");
        } else if has_control_character(value) {
            self.error = Some("a header of the request contains a control character");
        } else {
            for bytes in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
                self.lines.extend_from_slice(bytes);
            }
        }
    }

    /// The first value of a header. `name` is in lower case.
    pub fn get(&self, name: &str) -> Option<HeaderValue> {
        let mut lines = self.lines.split(|byte| *byte == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b": ")?.strip_suffix(b"\r"));
        HeaderValue::from_bytes(value?).ok()
    }

    /// The header lines with their line ends.
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

/// Whether a value contains a control character, which a header must not (RFC 9110, section 5.5). Without an early
/// exit, so that the compiler can vectorise the loop.
fn has_control_character(value: &[u8]) -> bool {
    value.iter().fold(false, |found, byte| found | (*byte < b' ' && *byte != b'\t') | (*byte == 0x7F))
}

/// Omits the values, some of which are secret.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Headers({} bytes)", self.lines.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_their_order_and_are_found_by_name() {
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
    fn control_characters_and_reserved_headers_are_rejected() {
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
