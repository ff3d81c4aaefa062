//! All routes, as one readable list.

mod applications;
mod attempts;
mod endpoints;
mod event_types;
mod health;
mod messages;
mod secrets;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_kit::Faults;
use http_kit::docs::Link;
use provider::Provider;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::{answer, errors};

/// The description around the operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lotwire provider",
        description = "Consumer applications, event types, endpoints, messages and the attempts to deliver them.\n\n\
            Official Svix clients work against it. Every path may end with a slash. Errors are `{code, detail}`; \
            values that are not allowed are 422 with a list of what is wrong and where. Times are RFC 3339 in UTC \
            with milliseconds.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    security(("key" = [])),
)]
struct Document;

/// Every operation with its description.
pub(crate) fn all() -> (Router<Provider>, utoipa::openapi::OpenApi) {
    let operations = OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(health::ping))
        .routes(routes!(applications::create, applications::list))
        .routes(routes!(applications::get, applications::update, applications::delete))
        .routes(routes!(event_types::create, event_types::list))
        .routes(routes!(event_types::get, event_types::update, event_types::delete))
        .routes(routes!(endpoints::create, endpoints::list))
        .routes(routes!(endpoints::get, endpoints::update, endpoints::delete))
        .routes(routes!(secrets::get))
        .routes(routes!(secrets::rotate))
        .routes(routes!(messages::create, messages::list))
        .routes(routes!(messages::get))
        .routes(routes!(attempts::list_by_message))
        .routes(routes!(attempts::list_by_endpoint))
        .routes(routes!(attempts::get));
    let document = OpenApiRouter::with_openapi(Document::openapi());
    let (router, document) = document.nest("/api/v1", operations).split_for_parts();
    (router, with_security(document))
}

fn with_security(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API key of an account. It may carry a region suffix (`.eu`)."))
        .build();
    document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    document
}

/// Adds what is no operation: the document itself, answers for unknown routes, and the layers.
pub(crate) fn finish(router: Router<Provider>, document: &utoipa::openapi::OpenApi, provider: Provider) -> Router {
    let links = [Link { title: "OpenAPI document", address: "/api/v1/openapi.json" }];
    let as_json = serde_json::to_value(document).unwrap_or_default();
    let pages = http_kit::docs::routes(&as_json, &links, errors::route_not_found);
    let document = Bytes::from(answer::text(document));
    let document = async move || ([(CONTENT_TYPE, "application/json")], document.clone());
    let router = router.route("/api/v1/openapi.json", get(document)).merge(pages).with_state(provider);
    let faults = Faults {
        route_not_found: errors::route_not_found,
        method_not_allowed: errors::method_not_allowed,
        panicked: errors::internal,
    };
    http_kit::finish_as(router, faults)
}
