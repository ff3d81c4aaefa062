//! The router: all routes in one list.

mod absentee_bids;
mod access_log;
mod after_sale;
mod api_keys;
mod auction_clone;
mod auction_edits;
mod auction_ends;
mod auction_status;
mod auctioneers;
mod auctions;
mod bids;
mod bulk_item_edits;
mod buy_now;
mod catalogue;
mod catalogue_merge;
mod clerks;
mod connections;
mod csv_export;
mod customers;
mod events;
mod health;
mod images;
mod item_edits;
mod item_end;
mod item_status;
mod items;
mod live;
mod me;
mod quarantine;
mod record;
mod reference;
mod reference_by_id;
mod registrations;
mod relist;
mod results;
mod ring;
mod sandbox;
mod sessions;
mod telephone_bookings;
mod users;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use http::HeaderMap;
use kit_http::docs::Link;
use kit_http::request_counts::RequestCounts;
use kit_http::schema_names::SchemaNames;
use kit_http::shared_check::SharedCheck;
use kit_http::{FallbackResponses, Origins, Surface};
use platform_core::Platform;
use utoipa::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::cacheable::{CachePolicy, CacheableResponse};
use crate::openapi_document;
use crate::operations::PREFIX;
use crate::request_guard::{self, RequestGuard};

/// The head of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Lotwire platform",
        description = "Auctions, items, bids and the clerk's commands; customers and their connections; announced events.\n\n\
            Errors are `application/problem+json` (RFC 9457) with a stable `code`. Amounts are integers in minor units of the \
            auction's currency. Times are RFC 3339 in UTC with milliseconds.\n\n\
            To make a POST safe to repeat, send an `Idempotency-Key`. Status changes and the clerk's commands require \
            `If-Match` with the `ETag` of the state that you read. Lists have pages: send `next` as `after` until `next` is \
            null.\n\n\
            Every response to an API key shows its quota in `RateLimit-Policy` (`q` requests in `w` seconds) and the rest of it \
            in `RateLimit` (`r` requests; the full quota again in `t` seconds). The quota refills evenly over the window. When \
            it is used up, the response is 429 with `Retry-After`. A body has at most 1 MiB, a catalogue 64 MiB.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    security(("key" = [])),
)]
struct Document;

/// The operations, and the names of their schemas.
#[derive(Default)]
struct Operations {
    router: OpenApiRouter<Platform>,
    names: SchemaNames,
}

impl Operations {
    fn routes(mut self, operations: UtoipaMethodRouter<Platform>) -> Self {
        self.names.add(&operations.0);
        Self { router: self.router.routes(operations), ..self }
    }
}

/// The router, and the OpenAPI document of its operations.
pub(crate) fn all() -> (Router<Platform>, utoipa::openapi::OpenApi) {
    let (router, document) =
        OpenApiRouter::with_openapi(Document::openapi()).nest(PREFIX, operations().router).split_for_parts();
    (router, openapi_document::complete(document))
}

/// Schema names that two different types share.
pub(crate) fn ambiguous_schemas() -> Vec<String> {
    operations().names.ambiguous()
}

/// Adds the state of a check that callers without a key may request.
fn with_shared_check((schemas, paths, route): UtoipaMethodRouter<Platform>) -> UtoipaMethodRouter<Platform> {
    (schemas, paths, route.layer(SharedCheck::extension()))
}

fn operations() -> Operations {
    Operations::default()
        .routes(with_shared_check(routes!(health::health)))
        .routes(routes!(customers::create, customers::list))
        .routes(routes!(customers::get))
        .routes(routes!(connections::connect, connections::connection, connections::disconnect))
        .routes(routes!(connections::register_event_types))
        .routes(routes!(connections::resume))
        .routes(routes!(quarantine::quarantine))
        .routes(routes!(quarantine::send))
        .routes(routes!(quarantine::discard))
        .routes(routes!(api_keys::create_key, api_keys::list_keys))
        .routes(routes!(api_keys::get_key, api_keys::revoke_key))
        .routes(routes!(access_log::list))
        .routes(routes!(sessions::sign_in, sessions::list, sessions::end_all))
        .routes(routes!(sessions::end))
        .routes(routes!(me::get))
        .routes(routes!(clerks::list_my_webcasts))
        .routes(routes!(me::change_password))
        .routes(routes!(me::enroll))
        .routes(routes!(me::confirm))
        .routes(routes!(me::turn_off))
        .routes(routes!(users::create, users::list))
        .routes(routes!(users::get, users::change, users::remove))
        .routes(routes!(users::reset_password))
        .routes(routes!(users::turn_off_second_factor))
        .routes(routes!(users::sessions, users::end_sessions))
        .routes(routes!(auctioneers::create, auctioneers::list))
        .routes(routes!(auctioneers::get, auctioneers::change))
        .routes(routes!(auctions::create, auctions::list))
        .routes(routes!(auctions::get, auction_edits::change))
        .routes(routes!(auction_status::change_status))
        .routes(routes!(auction_status::history))
        .routes(routes!(auction_ends::move_ends))
        .routes(routes!(auction_clone::clone))
        .routes(routes!(results::get))
        .routes(routes!(results::items))
        .routes(routes!(results::file))
        .routes(routes!(items::create, items::list))
        .routes(routes!(catalogue::import, catalogue::file))
        .routes(routes!(catalogue_merge::merge))
        .routes(routes!(catalogue_merge::propose))
        .routes(routes!(bulk_item_edits::change_many))
        .routes(routes!(relist::relist))
        .routes(routes!(items::get, item_edits::change))
        .routes(routes!(item_status::change_status))
        .routes(routes!(item_status::history))
        .routes(routes!(after_sale::change_buyer))
        .routes(routes!(after_sale::correct_hammer_price))
        .routes(routes!(after_sale::record_unpaid))
        .routes(routes!(after_sale::accept_offer))
        .routes(routes!(images::add))
        .routes(routes!(images::list))
        .routes(routes!(images::order))
        .routes(routes!(images::remove))
        .routes(routes!(images::content))
        .routes(routes!(record::record))
        .routes(routes!(bids::create, bids::list))
        .routes(routes!(absentee_bids::place_absentee_bid))
        .routes(routes!(absentee_bids::withdraw))
        .routes(routes!(buy_now::buy))
        .routes(routes!(bids::cancel))
        .routes(routes!(item_end::move_end))
        .routes(routes!(registrations::create, registrations::list))
        .routes(routes!(registrations::get, registrations::change))
        .routes(routes!(registrations::change_status))
        .routes(routes!(live::item))
        .routes(routes!(live::auction))
        .routes(routes!(clerks::list))
        .routes(routes!(clerks::assign, clerks::unassign))
        .routes(routes!(clerks::list_assignable))
        .routes(routes!(telephone_bookings::list))
        .routes(routes!(telephone_bookings::put, telephone_bookings::withdraw))
        .routes(routes!(ring::get))
        .routes(routes!(ring::visitor_messages::list))
        .routes(routes!(ring::visitor_messages::put, ring::visitor_messages::clear))
        .routes(routes!(sandbox::advance))
        .routes(routes!(sandbox::clock))
        .routes(routes!(ring::offer::begin))
        .routes(routes!(ring::offer::send))
        .routes(routes!(ring::bidding::asking_price))
        .routes(routes!(ring::bidding::bid))
        .routes(routes!(ring::bidding::accept))
        .routes(routes!(ring::bidding::commission_bid))
        .routes(routes!(ring::undo_and_reopen::undo))
        .routes(routes!(ring::undo_and_reopen::retract))
        .routes(routes!(ring::sell_and_pass::fair_warning))
        .routes(routes!(ring::sell_and_pass::pause))
        .routes(routes!(ring::sell_and_pass::resume))
        .routes(routes!(ring::sell_and_pass::sell))
        .routes(routes!(ring::sell_and_pass::pass))
        .routes(routes!(ring::offer::remove))
        .routes(routes!(ring::offer::offer_again))
        .routes(routes!(ring::undo_and_reopen::reopen))
        .routes(routes!(ring::internet_bids::internet_bid))
        .routes(routes!(ring::internet_bids::read))
        .routes(routes!(events::list))
        .routes(routes!(reference::item_statuses))
        .routes(routes!(reference::auction_statuses))
        .routes(routes!(reference::event_types))
        .routes(routes!(reference::countries))
        .routes(routes!(reference::currencies))
        .routes(routes!(reference_by_id::auctioneer))
        .routes(routes!(reference_by_id::address))
        .routes(routes!(reference_by_id::country))
        .routes(routes!(reference_by_id::currency))
}

/// The documents that the page of the API links to.
const LINKS: &[Link] = &[
    Link { title: "OpenAPI document", address: "/api/v1/openapi.json" },
    Link { title: "AsyncAPI document of the events", address: "/api/v1/asyncapi.json" },
];

/// Adds the documents and their pages, the response for unknown routes, and the middleware.
pub(crate) fn finish(router: Router<Platform>, document: utoipa::openapi::OpenApi, platform: Platform) -> Surface {
    let requests = Arc::new(RequestCounts::of_document(&document));
    let document = Arc::new(document);
    let pages = kit_http::docs::routes(document.clone(), LINKS, kit_http::route_not_found);
    // Rendered once, when they are first requested: the routes need no key, and rendering takes milliseconds.
    let document = Arc::new(LazyLock::new(move || CacheableResponse::new(&*document, CachePolicy::Public)));
    let events = Arc::new(LazyLock::new(|| CacheableResponse::new(&crate::asyncapi(), CachePolicy::Public)));
    let router = router
        .route_layer(from_fn_with_state(RequestGuard::new(platform.clone()), request_guard::guard))
        .route("/api/v1/openapi.json", get(async move |headers: HeaderMap| document.respond(&headers)))
        .route("/api/v1/asyncapi.json", get(async move |headers: HeaderMap| events.respond(&headers)))
        .merge(pages)
        .with_state(platform);
    let fallbacks = FallbackResponses::problems();
    kit_http::finish_counted(router, fallbacks, Origins::SameOrigin, requests)
}
