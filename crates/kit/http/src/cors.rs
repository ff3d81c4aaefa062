//! Web pages of other origins that call an API, as the official browser clients do with a token of an application.
//!
//! Only for surfaces whose callers name themselves in `Authorization`: a browser sends that of no other page, so there is
//! nothing that a foreign page could do in somebody's name.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderValue, Method, StatusCode};

/// Whose pages may read what a surface answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origins {
    /// Those of the surface itself.
    SameOrigin,
    /// Anybody's.
    Any,
}

const ANY: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id");
/// Seconds for which a browser need not ask again.
const MAX_AGE_S: HeaderValue = HeaderValue::from_static("7200");
/// What an answer to the question depends on.
const VARY_PREFLIGHT: HeaderValue = HeaderValue::from_static("access-control-request-headers");

/// Whether a page asks, of a surface that lets it.
pub(crate) fn is_cross_origin(origins: Origins, request: &Request) -> bool {
    origins == Origins::Any && request.headers().contains_key(ORIGIN)
}

/// The answer to a browser that asks what a page may do before it does it; none for any other request.
pub(crate) fn preflight(request: &Request) -> Option<Response> {
    let headers = request.headers();
    if request.method() != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let answer = response.headers_mut();
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    // Named one by one: `Authorization` is not among those that a star means.
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_S);
    answer.insert(VARY, VARY_PREFLIGHT);
    Some(response)
}

/// Lets the page read the answer.
pub(crate) fn allow(response: &mut Response) {
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
