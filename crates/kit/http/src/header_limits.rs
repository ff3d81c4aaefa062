//! Headers that are too large, over HTTP/2. The server library answers such a request by itself, and without a body; nothing
//! of that can be worded on its way out, as it is compressed. So the library has a larger limit, and the one that is meant is kept here.
//! Only what is beyond both gets the bare answer.

use axum::body::Body;
use http::{HeaderMap, Request, Response, StatusCode, Uri, Version, header};

use crate::error_bodies;

/// How many times what is meant the library takes.
const LIBRARY_FACTOR: usize = 4;
/// Headers of a request: what the library takes over HTTP/1 when it isn't told, for which it needs no memory.
const HEADERS_MAX: usize = 100;
/// What HTTP/2 counts for each header beside its name and value (RFC 9113, 6.5.2).
const HEADER_BYTES: usize = 32;

/// What a request's headers may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderLimits {
    pub(crate) bytes_max: usize,
}

impl HeaderLimits {
    /// Bytes of headers that the library is to take.
    pub(crate) fn library_bytes_max(self) -> u32 {
        u32::try_from(self.bytes_max.saturating_mul(LIBRARY_FACTOR)).unwrap_or(u32::MAX)
    }

    /// The answer to a request over HTTP/2 whose headers are too large; none for all others.
    pub(crate) fn refusal<B>(self, request: &Request<B>) -> Option<Response<Body>> {
        let is_measured_here = request.version() == Version::HTTP_2;
        (is_measured_here && !self.are_within(request.uri(), request.headers())).then(too_large)
    }

    fn are_within(self, uri: &Uri, headers: &HeaderMap) -> bool {
        let address_bytes = uri.path_and_query().map_or(0, |address| address.as_str().len());
        let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + HEADER_BYTES);
        headers.len() <= HEADERS_MAX && address_bytes + bytes.sum::<usize>() <= self.bytes_max
    }
}

fn too_large() -> Response<Body> {
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    let mut response = Response::new(Body::from(error_bodies::body(status.as_u16(), error_bodies::HEADERS_TOO_LARGE)));
    *response.status_mut() = status;
    let kind = http::HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
