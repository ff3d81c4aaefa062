//! The bidders' JSON API of the salerooms, for web sites of houses that show sales and take bids in pages of their own.
//!
//! Everyone reads what the pages of a saleroom show. A bidder who allowed it is known by the access token of a site
//! ([`tokens`]); no cookie counts here, and no token there. Guarantees:
//! - No response has a reserve, a maximum or a commission bid of another bidder, or a name of one.
//! - A browser lets pages of a site read the responses only if the house of the path lists the site.
//! - A bid needs an `Idempotency-Key`, and the amount that the bidder saw.

mod bidder;
mod bids;
mod document;
mod errors;
mod guard;
mod images;
mod live;
mod models;
mod own_models;
mod requests;
mod sales;
mod tokens;

use std::sync::LazyLock;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use http::{Method, StatusCode};
use kit_http::page_routes::get;
use kit_http::problem::Problem;
use kit_http::schema_names::SchemaNames;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use self::guard::ApiGuard;
use crate::site::SaleroomSite;

/// Path of the operations of a house.
pub(crate) const PREFIX: &str = "/{house}/api/v1";

/// The text of the OpenAPI document that the server answers.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| kit_http::json::text(&document()));

#[derive(Default)]
struct Operations {
    router: OpenApiRouter<SaleroomSite>,
    names: SchemaNames,
}

impl Operations {
    fn routes(mut self, operations: UtoipaMethodRouter<SaleroomSite>) -> Self {
        self.names.add(&operations.0);
        Self { router: self.router.routes(operations), ..self }
    }
}

fn operations() -> Operations {
    Operations::default()
        .routes(routes!(sales::list))
        .routes(routes!(sales::past))
        .routes(routes!(sales::get))
        .routes(routes!(sales::conditions))
        .routes(routes!(sales::lots))
        .routes(routes!(sales::lot))
        .routes(routes!(images::image))
        .routes(routes!(live::sale))
        .routes(routes!(live::lot))
        .routes(routes!(bidder::me))
        .routes(routes!(bidder::registrations))
        .routes(routes!(bidder::register))
        .routes(routes!(bidder::lots))
        .routes(routes!(bidder::watched))
        .routes(routes!(bidder::watch, bidder::unwatch))
        .routes(routes!(bids::standing))
        .routes(routes!(bids::bid))
        .routes(routes!(bids::withdraw_commission))
}

fn token_operations() -> Operations {
    Operations::default().routes(routes!(tokens::token)).routes(routes!(tokens::revoke))
}

fn split() -> (Router<SaleroomSite>, OpenApi) {
    let described = OpenApiRouter::with_openapi(document::Document::openapi())
        .nest(PREFIX, operations().router)
        .nest("/{house}", token_operations().router);
    let (router, described) = described.split_for_parts();
    (router, document::complete(described))
}

/// The OpenAPI document.
pub(crate) fn document() -> OpenApi {
    split().1
}

/// Schema names in the document that two different types share. Must be empty.
pub(crate) fn ambiguous_schemas() -> Vec<String> {
    let mut found = operations().names.ambiguous();
    found.extend(token_operations().names.ambiguous());
    found
}

/// Method, path and name of each operation, for counts of requests.
pub(crate) fn counted() -> Vec<(Method, String, String)> {
    let mut counted = Vec::new();
    for (path, item) in document().paths.paths {
        let of = [
            (Method::GET, item.get),
            (Method::POST, item.post),
            (Method::PUT, item.put),
            (Method::DELETE, item.delete),
        ];
        for (method, operation) in of {
            let name = operation.and_then(|operation| operation.operation_id);
            counted.extend(name.map(|name| (method, path.clone(), name)));
        }
    }
    counted
}

/// The routes, which pages of other origins may call. They are no part of the pages' site, whose forms may not be sent by others.
pub(crate) fn router(site: &SaleroomSite) -> Router {
    split()
        .0
        .route("/{house}/api/openapi.json", get(openapi))
        .route("/{house}/api", any(missing))
        .route("/{house}/api/{*rest}", any(missing))
        .route("/.well-known/oauth-authorization-server/{house}", get(tokens::metadata))
        .method_not_allowed_fallback(async || method_not_allowed())
        .route_layer(from_fn_with_state(ApiGuard::new(site.clone()), guard::guard))
        .route(crate::embed::ROUTE, get(crate::embed::script))
        .with_state(site.clone())
}

async fn openapi() -> Response {
    kit_http::json::response(StatusCode::OK, DOCUMENT.as_str())
}

async fn missing() -> Response {
    kit_http::route_not_found()
}

fn method_not_allowed() -> Response {
    let detail = "this path does not support the method; the Allow header lists the supported methods";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).into_response()
}
