//! The delivery provider's JSON API (`/api/v1`), which official Svix clients can use, and its OpenAPI document.
//!
//! The binary serves [`surface`]. Each file of `routes` has one group of operations: the schemas of its requests and
//! responses, and a short handler for each operation, which calls one use case of `provider-core`. `extract` reads
//! requests, `response` writes responses, `errors` renders errors, `access` lists what application tokens may call.
//!
//! Guarantees: every response is JSON of the documented schema; a payload is delivered as the bytes that the caller
//! sent; a response never reveals whether a record of another account exists.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod errors;
mod extract;
mod field_aliases;
mod history_query;
mod metrics;
mod patch;
mod response;
mod routes;
mod schema_types;

use std::sync::Arc;

use kit_http::Surface;
use provider_core::Provider;
use utoipa::openapi::OpenApi;

/// The API of a provider, ready to be served.
pub fn surface(provider: Provider) -> Surface {
    let (router, document) = routes::all();
    routes::finish(router, document, provider)
}

/// The provider's metrics, for [`kit_http::metrics::surface`].
pub fn metrics(provider: Provider) -> Arc<dyn kit_http::metrics::Source> {
    Arc::new(metrics::ProviderMetrics(provider))
}

/// The OpenAPI document of the API, which `/api/v1/openapi.json` returns.
pub fn openapi() -> OpenApi {
    routes::all().1
}

/// Schema names of the OpenAPI document that two different schemas share. A test requires that there are none.
pub fn ambiguous_schemas() -> Vec<String> {
    routes::ambiguous_schemas()
}
