//! Limits the headers of HTTP/2 requests. When they exceed the HTTP library's limit, the library responds with 431 and
//! no body, and HTTP/2 compression prevents [`crate::error_bodies`] from adding one. So the library gets a higher
//! limit, and this module enforces the configured one with a complete response.

use axum::body::Body;
use http::{HeaderMap, Request, Response, StatusCode, Uri, Version};

use crate::error_bodies;

/// Factor between the configured limit and that of the library.
const LIBRARY_FACTOR: usize = 4;
/// Maximum number of headers: the default of the library over HTTP/1.
const HEADERS_MAX: usize = 100;
/// Bytes that HTTP/2 counts for each header in addition to its name and value (RFC 9113, section 6.5.2).
const HEADER_BYTES: usize = 32;

/// Limits of the headers of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderLimits {
    pub(crate) bytes_max: usize,
}

impl HeaderLimits {
    /// The limit for the library.
    pub(crate) fn library_bytes_max(self) -> u32 {
        u32::try_from(self.bytes_max.saturating_mul(LIBRARY_FACTOR)).unwrap_or(u32::MAX)
    }

    /// The response to an HTTP/2 request with too large headers; none for other requests.
    pub(crate) fn refusal<B>(self, request: &Request<B>) -> Option<Response<Body>> {
        let is_http_2 = request.version() == Version::HTTP_2;
        let is_refused = is_http_2 && !self.are_within(request.uri(), request.headers());
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        is_refused.then(|| error_bodies::response(status, error_bodies::HEADERS_TOO_LARGE))
    }

    fn are_within(self, uri: &Uri, headers: &HeaderMap) -> bool {
        let address_bytes = uri.path_and_query().map_or(0, |address| address.as_str().len());
        let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + HEADER_BYTES);
        headers.len() <= HEADERS_MAX && address_bytes + bytes.sum::<usize>() <= self.bytes_max
    }
}
