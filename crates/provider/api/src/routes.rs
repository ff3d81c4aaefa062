//! The list of all operations, and the router and OpenAPI document that they make.

mod account;
mod applications;
mod attempts;
mod authentication;
mod background_tasks;
mod blocked_keys;
mod destinations;
mod endpoint_stats;
mod endpoints;
mod event_types;
mod expunge;
mod headers;
mod health;
mod import;
mod messages;
mod openapi_document;
mod operational;
mod replays;
mod secrets;
mod send_example;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::routing::{get, post};
use bytes::Bytes;
use http::StatusCode;
use kit_http::docs::Link;
use kit_http::request_counts::RequestCounts;
use kit_http::schema_names::SchemaNames;
use kit_http::shared_check::SharedCheck;
use kit_http::{FallbackResponses, Origins, Surface};
use provider_core::Provider;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::errors::{HttpErrorOut, ValidationErrorOut};
use crate::schema_types::ListOrder;
use crate::{errors, response};

/// Prefix of the path of each operation.
const PREFIX: &str = "/api/v1";

/// The parts of the OpenAPI document that belong to no operation.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lotwire provider",
        description = "Consumer applications, event types, endpoints, messages and the attempts to deliver them.\n\n\
            Official Svix clients work with this API. Every path may end with a slash. The body of an error is \
            `{code, detail}`; that of a 422 lists each invalid value with its place. Times are RFC 3339 in UTC with \
            milliseconds.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(ListOrder, HttpErrorOut<'static>, ValidationErrorOut)),
    security(("key" = [])),
)]
struct Document;

fn operations() -> Vec<UtoipaMethodRouter<Provider>> {
    vec![
        with_shared_check(routes!(health::health)),
        routes!(health::ping),
        routes!(applications::create, applications::list),
        routes!(applications::get, applications::update, applications::change, applications::delete),
        routes!(event_types::create, event_types::list),
        routes!(event_types::get, event_types::update, event_types::change, event_types::delete),
        routes!(import::openapi),
        routes!(endpoints::create, endpoints::list),
        routes!(endpoints::get, endpoints::update, endpoints::change, endpoints::delete),
        routes!(headers::get, headers::update, headers::change),
        routes!(endpoint_stats::stats),
        routes!(endpoint_stats::attempt_stats),
        routes!(send_example::send_example),
        routes!(blocked_keys::list),
        routes!(blocked_keys::skip),
        routes!(blocked_keys::retry),
        routes!(secrets::get),
        routes!(secrets::rotate),
        routes!(messages::create, messages::list),
        routes!(messages::get),
        routes!(messages::expunge),
        routes!(messages::precheck),
        routes!(expunge::expunge_some),
        routes!(expunge::expunge_all),
        routes!(attempts::list_by_message),
        routes!(attempts::list_by_endpoint),
        routes!(attempts::get),
        routes!(replays::recover),
        routes!(replays::replay_missing),
        routes!(replays::bulk_replay),
        routes!(background_tasks::list),
        routes!(background_tasks::get),
        routes!(operational::create, operational::list),
        routes!(operational::get, operational::update, operational::delete),
        routes!(operational::get_secret),
        routes!(operational::rotate_secret),
        routes!(operational::get_headers, operational::set_headers),
        routes!(authentication::app_portal_access),
        routes!(authentication::expire_all),
        routes!(authentication::logout),
        routes!(authentication::whoami),
        routes!(account::get, account::update),
        routes!(attempts::expunge),
        routes!(attempts::resend),
        routes!(destinations::list_attempted_messages),
        routes!(destinations::list_attempted_destinations),
    ]
}

/// Adds the state of a check that callers without a key may request.
fn with_shared_check((schemas, paths, route): UtoipaMethodRouter<Provider>) -> UtoipaMethodRouter<Provider> {
    (schemas, paths, route.layer(SharedCheck::extension()))
}

/// Schema names that stand for different schemas.
pub(crate) fn ambiguous_schemas() -> Vec<String> {
    let mut names = SchemaNames::default();
    operations().iter().for_each(|(schemas, ..)| names.add(schemas));
    names.ambiguous()
}

/// The router and the OpenAPI document of all operations.
pub(crate) fn all() -> (Router<Provider>, utoipa::openapi::OpenApi) {
    let router = OpenApiRouter::with_openapi(Document::openapi());
    let router = operations().into_iter().fold(router, |router, operation| router.routes(under(PREFIX, operation)));
    let (router, document) = router.split_for_parts();
    let router = router
        // Paths of clients older than the lists above.
        .route(&format!("{PREFIX}/app/{{app_id}}/msg/{{msg_id}}/attempt"), get(attempts::list_by_message))
        .route(
            &format!("{PREFIX}/app/{{app_id}}/msg/{{msg_id}}/endpoint/{{endpoint_id}}/attempt"),
            get(attempts::list_by_message_and_endpoint),
        );
    (router, openapi_document::complete(with_security(document)))
}

/// An operation with its path below `prefix`. A nested router would allocate and clone its routes for each request.
fn under(prefix: &str, (schemas, mut paths, router): UtoipaMethodRouter<Provider>) -> UtoipaMethodRouter<Provider> {
    paths.paths = paths.paths.into_iter().map(|(path, item)| (format!("{prefix}{path}"), item)).collect();
    (schemas, paths, router)
}

fn with_security(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "An API key of an account, or the token of one application, which gives access to that application only. \
             Either may end with a region (`.eu`).",
        ))
        .build();
    document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    document
}

/// The documents that the page of the API links to.
const LINKS: &[Link] = &[Link { title: "OpenAPI document", address: "/api/v1/openapi.json" }];

/// Adds the routes that are not operations: the OpenAPI document, the documentation pages, and the fallback responses.
pub(crate) fn finish(router: Router<Provider>, document: utoipa::openapi::OpenApi, provider: Provider) -> Surface {
    let requests = Arc::new(RequestCounts::of_document(&document));
    let document = Arc::new(document);
    let pages = kit_http::docs::routes(document.clone(), LINKS, errors::route_not_found);
    // Rendered once, when it is first requested.
    let document = Arc::new(LazyLock::new(move || Bytes::from(response::text(&*document))));
    let document = async move || response::from_text(StatusCode::OK, (**document).clone());
    let router = router
        .route("/api/v1/openapi.json", get(document))
        // Called by clients before version 1 only.
        .route("/api/v1/auth/dashboard-access/{app_id}", post(authentication::dashboard_access))
        .merge(pages)
        .with_state(provider);
    let fallbacks = FallbackResponses {
        route_not_found: errors::route_not_found,
        method_not_allowed: errors::method_not_allowed,
        panicked: errors::internal,
    };
    kit_http::finish_counted(router, fallbacks, Origins::Any, requests)
}
