//! Headers of a request.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::TransportError;

/// Headers that control the connection and the framing. From a customer they would allow request smuggling.
pub(crate) const RESERVED_HEADERS: [&str; 8] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"];

/// Headers. Those with one name keep their order and stand together; the order of names has no meaning.
///
/// A reserved header or an invalid value is not added, and sending the request fails with [`TransportError::Invalid`].
#[derive(Clone, Default)]
pub struct Headers {
    map: HeaderMap,
    error: Option<&'static str>,
}

impl Headers {
    /// Adds a header. Existing headers with the same name stay.
    pub fn add(&mut self, name: &HeaderName, value: &[u8]) {
        if RESERVED_HEADERS.contains(&name.as_str()) {
            self.error = Some("the request has a header that only the client may set, such as Host or Content-Length");
        } else if let Ok(value) = HeaderValue::from_bytes(value) {
            self.map.append(name, value);
        } else {
            self.error = Some("a header of the request contains a control character");
        }
    }

    /// The first value of a header. `name` is in lower case.
    pub fn get(&self, name: &str) -> Option<HeaderValue> {
        self.map.get(name).cloned()
    }

    pub(crate) fn into_map(self) -> Result<HeaderMap, TransportError> {
        self.error.map_or(Ok(self.map), |error| Err(TransportError::Invalid(error)))
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

/// Omits the values, some of which are secret.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Headers({})", self.map.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_by_name() {
        let mut headers = Headers::default();
        for (name, value) in [("x-a-b", &b"1"[..]), ("x-a", b"2"), ("x-a", b"\t\xe9"), ("x-empty", b"")] {
            headers.add(&HeaderName::from_static(name), value);
        }
        for (name, value) in [("x-a", Some("2")), ("x-a-b", Some("1")), ("x-empty", Some("")), ("x", None)] {
            assert_eq!(headers.get(name).as_ref().map(|value| value.to_str().unwrap()), value, "{name}");
        }
        assert_eq!(format!("{headers:?}"), "Headers(4)");
    }

    #[test]
    fn control_characters_and_reserved_headers_are_rejected() {
        for value in [&b"a\r\nb: c"[..], b"a\nb", b"\0", b"a\x7f"] {
            let mut headers = Headers::default();
            headers.add(&HeaderName::from_static("x-a"), value);
            assert!(headers.clone().into_map().is_err(), "{value:?}");
        }
        for name in RESERVED_HEADERS {
            let map = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static("1"))]);
            assert!(Headers::from(map).into_map().is_err());
        }
    }
}
