//! The platform's JSON API (`/api/v1`), its OpenAPI document, and the AsyncAPI document of the events.
//!
//! `routes` has one file for each group of operations. A handler reads its input, calls one use case of
//! `platform-core`, and renders the result. The other modules are what handlers share: [`request_guard`] authenticates
//! the caller, [`extract`] reads the request, [`response`] and [`cacheable`] write the response, [`errors`] turns
//! errors into problem details (RFC 9457), [`models`] are the JSON shapes, [`openapi_document`] completes the document.
//!
//! Guarantees:
//! - No response contains a reserve, a maximum bid, a stored secret or a hash of a secret.
//! - A record of another customer does not exist for the caller: the response is 404.
//! - Status changes and the clerk's commands require `If-Match`, so that two callers never overwrite each other's
//!   change.
//! - A repeated `Idempotency-Key` returns the first response again.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod asyncapi;
mod body_fields;
mod cacheable;
mod errors;
mod etag;
mod extract;
mod list_filters;
mod metrics;
mod models;
mod openapi_document;
mod operations;
mod pagination;
mod request_guard;
mod response;
mod routes;
mod upload;

use std::sync::Arc;

use kit_http::Surface;
use platform_core::Platform;
use utoipa::openapi::OpenApi;

/// The API of a platform, ready to serve.
pub fn surface(platform: Platform) -> Surface {
    let (router, document) = routes::all();
    routes::finish(router, document, platform)
}

/// The platform's metrics, for [`kit_http::metrics::surface`].
pub fn metrics(platform: Platform) -> Arc<dyn kit_http::metrics::Source> {
    Arc::new(metrics::PlatformMetrics(platform))
}

/// The AsyncAPI document of the events, as `/api/v1/asyncapi.json` serves it.
pub fn asyncapi() -> serde_json::Value {
    asyncapi::document()
}

/// The OpenAPI document of the API, as `/api/v1/openapi.json` serves it.
pub fn openapi() -> OpenApi {
    routes::all().1
}

/// Schema names in the OpenAPI document that two different types share. Must be empty: otherwise an operation would be
/// described with the schema of another one.
pub fn ambiguous_schemas() -> Vec<String> {
    routes::ambiguous_schemas()
}
