//! Rejects HTTP/1.1 requests without exactly one `Host` header (RFC 9112, section 3.2). A proxy and the server could
//! choose different ones of two.

use axum::body::Body;
use http::{HeaderValue, Request, Response, Version, header};

use crate::error_bodies::{self, ErrorText};

const ERROR: ErrorText =
    ErrorText { code: "malformed_request", detail: "an HTTP/1.1 request needs exactly one Host header" };

/// The response to an HTTP/1.1 request with no or several `Host` headers; none for other requests.
pub(crate) fn refusal<B>(request: &Request<B>) -> Option<Response<Body>> {
    if request.version() != Version::HTTP_11 || request.headers().get_all(header::HOST).iter().count() == 1 {
        return None;
    }
    let mut response = error_bodies::response(http::StatusCode::BAD_REQUEST, ERROR);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    Some(response)
}
