//! All routes, as one readable list.

mod access;
mod auctioneers;
mod auctions;
mod bids;
mod catalogue;
mod customers;
mod events;
mod health;
mod items;
mod reference;
mod reference_by_id;
mod ring;

use axum::Router;
use axum::routing::get;
use platform::Platform;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The description around the operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lotwire platform",
        description = "Auctions, items, bids and the clerk's work; customers and their connections; announced events.\n\n\
            Errors are `application/problem+json` (RFC 9457) with a stable `code`. Amounts are integers in minor units of the \
            auction's currency. Times are RFC 3339 in UTC with milliseconds.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    security(("key" = [])),
)]
struct Document;

/// Every operation with its description.
pub(crate) fn all() -> (Router<Platform>, utoipa::openapi::OpenApi) {
    let operations = OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(customers::create, customers::list))
        .routes(routes!(customers::get))
        .routes(routes!(customers::connect, customers::connection))
        .routes(routes!(customers::register_event_types))
        .routes(routes!(customers::resume))
        .routes(routes!(customers::quarantine))
        .routes(routes!(access::create_key))
        .routes(routes!(auctioneers::create, auctioneers::list))
        .routes(routes!(auctioneers::get, auctioneers::change))
        .routes(routes!(auctions::create, auctions::list))
        .routes(routes!(auctions::get))
        .routes(routes!(auctions::change_status))
        .routes(routes!(auctions::history))
        .routes(routes!(items::create, items::list))
        .routes(routes!(catalogue::import))
        .routes(routes!(items::get))
        .routes(routes!(items::change_status))
        .routes(routes!(items::history))
        .routes(routes!(bids::create, bids::list))
        .routes(routes!(ring::get))
        .routes(routes!(ring::send))
        .routes(routes!(ring::bid))
        .routes(routes!(ring::sell))
        .routes(routes!(ring::pass))
        .routes(routes!(ring::offer_again))
        .routes(routes!(events::list))
        .routes(routes!(reference::item_statuses))
        .routes(routes!(reference::auction_statuses))
        .routes(routes!(reference::event_types))
        .routes(routes!(reference::countries))
        .routes(routes!(reference::currencies))
        .routes(routes!(reference_by_id::auctioneer))
        .routes(routes!(reference_by_id::address))
        .routes(routes!(reference_by_id::country))
        .routes(routes!(reference_by_id::currency));
    let (router, document) =
        OpenApiRouter::with_openapi(Document::openapi()).nest("/api/v1", operations).split_for_parts();
    (router, with_security(document))
}

fn with_security(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API key (`lw_…`) with the scopes that the operation needs."))
        .build();
    document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    document
}

/// Adds what is no operation: the document itself, answers for unknown routes, and the layers.
pub(crate) fn finish(router: Router<Platform>, document: utoipa::openapi::OpenApi, platform: Platform) -> Router {
    let document = axum::Json(document);
    let router = router.route("/api/v1/openapi.json", get(async move || document.clone())).with_state(platform);
    http_kit::finish(router)
}
