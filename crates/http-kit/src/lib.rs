//! What every HTTP surface shares: problem details, request ids, JSON input, pages, preconditions, idempotency keys,
//! serving. It knows no domain; each surface renders errors in its own shape.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod bearer;
pub mod etag;
pub mod idempotency;
pub mod json;
pub mod pages;
pub mod problem;
pub mod request_id;
pub mod serve;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tower_http::catch_panic::CatchPanicLayer;

use crate::problem::Problem;

/// Puts around a surface that speaks problem details what all of them need: JSON for unknown routes and methods, a request
/// id on every answer, and an answer even when a handler panics.
pub fn finish(router: Router) -> Router {
    router
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "route_not_found", "there is nothing at this address"))
        .method_not_allowed_fallback(async || {
            let detail = "this address does not take this method; the Allow header names those that it takes";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
        })
        .layer(CatchPanicLayer::custom(|_| panicked()))
        .layer(axum::middleware::from_fn(request_id::layer))
}

fn panicked() -> Response {
    let detail = "something went wrong here; it has been logged with the request id";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail).into_response()
}
