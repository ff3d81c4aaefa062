//! The platform's JSON API (`/api/v1`), its OpenAPI document, and the AsyncAPI document of the events.
//!
//! One file of `routes` per group of endpoints; each handler reads its input, calls one use case of the `platform` crate,
//! and writes its answer. What all have in common is here once: [`extract`] reads who asks and what for, [`response`] writes
//! results, [`errors`] turns what the platform says into problem details (RFC 9457), [`models`] are the shapes.
//!
//! Guarantees: no reserve, secret or hash is ever in an answer; records of another customer are `404`; status changes and
//! clerk commands need `If-Match`; a repeated `Idempotency-Key` gives the first answer again.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod asyncapi;
mod cacheable;
mod errors;
mod extract;
mod extract_models;
mod list_filters;
mod metrics;
mod models;
mod openapi_document;
mod operations;
mod request_guard;
mod response;
mod routes;

use std::sync::Arc;

use kit_http::Surface;
use platform_core::Platform;
use utoipa::openapi::OpenApi;

/// The API on a platform, ready to be served.
pub fn surface(platform: Platform) -> Surface {
    let (router, document) = routes::all();
    routes::finish(router, document, platform)
}

/// The platform's figures, for [`kit_http::metrics::surface`].
pub fn metrics(platform: Platform) -> Arc<dyn kit_http::metrics::Source> {
    Arc::new(metrics::PlatformMetrics(platform))
}

/// The AsyncAPI document of the events, as `/api/v1/asyncapi.json` gives it.
pub fn asyncapi() -> serde_json::Value {
    asyncapi::document()
}

/// The OpenAPI document of the API, as `/api/v1/openapi.json` gives it.
pub fn openapi() -> OpenApi {
    routes::all().1
}

/// Names in the OpenAPI document that stand for different schemas: none, or an operation would be described with another's.
pub fn ambiguous_schemas() -> Vec<String> {
    routes::ambiguous_schemas()
}
