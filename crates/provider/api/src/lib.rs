//! The delivery provider's JSON API (`/api/v1`), which official clients work against, and its OpenAPI document.
//!
//! Called by the binary, which serves [`surface`], and by tests. One file of `routes` for each group of operations: the
//! shapes that it reads and writes, and one short handler for each operation, which calls one use case of the `provider`
//! crate. What all have in common is here once: `ask` reads requests, `answer` writes answers, `errors` turns what
//! went wrong into the API's two shapes of errors.
//!
//! Guarantees: whatever comes in is answered with JSON of the documented shape; a message's payload is never taken apart,
//! and leaves as the bytes that came; nothing of another account can be told from what is not there.

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

/// The API on a provider, ready to be served.
pub fn surface(provider: Provider) -> Surface {
    surface_with_metrics(provider).0
}

/// The same, with the figures of the provider and of this API, for [`kit_http::metrics::surface`].
pub fn surface_with_metrics(provider: Provider) -> (Surface, Arc<dyn kit_http::metrics::Source>) {
    let (router, document) = routes::all();
    let requests = Arc::new(metrics::requests(&document));
    let surface = routes::finish(router, &document, provider.clone(), Arc::clone(&requests));
    (surface, Arc::new(metrics::ProviderMetrics { provider, requests }))
}

/// The OpenAPI document of the API, as `/api/v1/openapi.json` gives it.
pub fn openapi() -> OpenApi {
    routes::all().1
}

/// Names in the OpenAPI document that stand for different schemas: none, or an operation would be described with another's.
pub fn ambiguous_schemas() -> Vec<String> {
    routes::ambiguous_schemas()
}
