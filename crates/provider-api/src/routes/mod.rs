//! All routes, as one readable list.

mod account;
mod applications;
mod attempts;
mod authentication;
mod background_tasks;
mod blocked_keys;
mod destinations;
mod endpoints;
mod event_types;
mod headers;
mod health;
mod import;
mod messages;
mod operational;
mod replays;
mod secrets;
mod trying;

use axum::Router;
use axum::routing::{get, post};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_kit::docs::Link;
use http_kit::{Faults, Origins};
use provider::Provider;
use utoipa::OpenApi;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref};
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
        .routes(routes!(applications::get, applications::update, applications::change, applications::delete))
        .routes(routes!(event_types::create, event_types::list))
        .routes(routes!(event_types::get, event_types::update, event_types::change, event_types::delete))
        .routes(routes!(import::openapi))
        .routes(routes!(endpoints::create, endpoints::list))
        .routes(routes!(endpoints::get, endpoints::update, endpoints::change, endpoints::delete))
        .routes(routes!(headers::get, headers::update, headers::change))
        .routes(routes!(trying::stats))
        .routes(routes!(trying::send_example))
        .routes(routes!(blocked_keys::list))
        .routes(routes!(blocked_keys::skip))
        .routes(routes!(secrets::get))
        .routes(routes!(secrets::rotate))
        .routes(routes!(messages::create, messages::list))
        .routes(routes!(messages::get))
        .routes(routes!(messages::expunge))
        .routes(routes!(messages::precheck))
        .routes(routes!(attempts::list_by_message))
        .routes(routes!(attempts::list_by_endpoint))
        .routes(routes!(attempts::get))
        .routes(routes!(replays::recover))
        .routes(routes!(replays::replay_missing))
        .routes(routes!(replays::bulk_replay))
        .routes(routes!(background_tasks::list))
        .routes(routes!(background_tasks::get))
        .routes(routes!(operational::create, operational::list))
        .routes(routes!(operational::get, operational::update, operational::delete))
        .routes(routes!(operational::get_secret))
        .routes(routes!(operational::rotate_secret))
        .routes(routes!(operational::get_headers, operational::set_headers))
        .routes(routes!(authentication::app_portal_access))
        .routes(routes!(authentication::expire_all))
        .routes(routes!(authentication::logout))
        .routes(routes!(authentication::whoami))
        .routes(routes!(account::get, account::update))
        .routes(routes!(attempts::expunge))
        .routes(routes!(attempts::resend))
        .routes(routes!(destinations::list_attempted_messages))
        .routes(routes!(destinations::list_attempted_destinations))
        // What clients asked before there were the lists above.
        .route("/app/{app_id}/msg/{msg_id}/attempt", get(attempts::list_by_message))
        .route(
            "/app/{app_id}/msg/{msg_id}/endpoint/{endpoint_id}/attempt",
            get(attempts::list_by_message_and_endpoint),
        );
    let document = OpenApiRouter::with_openapi(Document::openapi());
    let (router, document) = document.nest("/api/v1", operations).split_for_parts();
    (router, with_refusals(with_security(document)))
}

fn with_security(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "An API key of an account, or the token of one application, which reaches only that. Either may carry a \
             region suffix (`.eu`).",
        ))
        .build();
    document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    document
}

/// What any operation that needs a key may answer.
fn with_refusals(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let refusals = [
        ("403", "The key or token is good, and may not do this (`insufficient_access`)."),
        ("429", "Too many requests in a short time; `Retry-After` has the seconds to wait (`too_many_requests`)."),
    ];
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
        for operation in operations.into_iter().flatten().filter(|operation| operation.security.is_none()) {
            for (status, description) in refusals {
                let body = Content::new(Some(Ref::from_schema_name("HttpErrorOut")));
                let refusal = ResponseBuilder::new().description(description).content("application/json", body).build();
                operation.responses.responses.entry(status.to_owned()).or_insert_with(|| refusal.into());
            }
        }
    }
    document
}

/// Adds what is no operation: the document itself, answers for unknown routes, and the layers.
pub(crate) fn finish(router: Router<Provider>, document: &utoipa::openapi::OpenApi, provider: Provider) -> Router {
    let links = [Link { title: "OpenAPI document", address: "/api/v1/openapi.json" }];
    let as_json = serde_json::to_value(document).unwrap_or_default();
    let pages = http_kit::docs::routes(&as_json, &links, errors::route_not_found);
    let document = Bytes::from(answer::text(document));
    let document = async move || ([(CONTENT_TYPE, "application/json")], document.clone());
    let router = router
        .route("/api/v1/openapi.json", get(document))
        // What clients before version 1 call; newer ones don't know it.
        .route("/api/v1/auth/dashboard-access/{app_id}", post(authentication::dashboard_access))
        .merge(pages)
        .with_state(provider);
    let faults = Faults {
        route_not_found: errors::route_not_found,
        method_not_allowed: errors::method_not_allowed,
        panicked: errors::internal,
    };
    http_kit::finish_as(router, faults, Origins::Any)
}
