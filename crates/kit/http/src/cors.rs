//! CORS: web pages of other origins may call an API, as the official browser clients do with the token of an
//! application.
//!
//! Only for surfaces that authenticate with `Authorization`: a browser does not send that header by itself, so a
//! foreign page can't act with the rights of a user.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderValue, Method, StatusCode};

/// The origins whose pages may call a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origins {
    /// Only the surface's own origin.
    SameOrigin,
    /// Every origin.
    Any,
}

const ANY: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id");
/// Seconds for which a browser may cache a preflight response.
const MAX_AGE_S: HeaderValue = HeaderValue::from_static("7200");
/// The request headers that a preflight response depends on.
const VARY_PREFLIGHT: HeaderValue = HeaderValue::from_static("access-control-request-headers");

/// Whether the request comes from a page of another origin and the surface allows that.
pub(crate) fn is_cross_origin(origins: Origins, request: &Request) -> bool {
    origins == Origins::Any && request.headers().contains_key(ORIGIN)
}

/// The response to a preflight request; none for any other request.
pub(crate) fn preflight(request: &Request) -> Option<Response> {
    let headers = request.headers();
    if request.method() != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let answer = response.headers_mut();
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    // Listed by name, because `*` does not include `Authorization`.
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_S);
    answer.insert(VARY, VARY_PREFLIGHT);
    Some(response)
}

/// Adds the headers that let the page read the response.
pub(crate) fn allow(response: &mut Response) {
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
