//! The lots of an auction: grid, bulk actions, one lot, catalogue import and export.

mod add;
pub(crate) mod bidder_offer;
mod bulk;
mod bulk_apply;
pub(crate) mod buyer;
mod cancel_bid;
mod cell;
pub(crate) mod columns;
pub(crate) mod consignors;
mod deliveries;
mod edit;
mod export;
mod formula;
mod formula_apply;
mod formula_terms;
pub(crate) mod grid;
mod grid_columns;
mod hammer_price;
mod history;
mod import;
mod import_cells;
mod import_check;
pub(crate) mod import_columns;
mod imported;
pub(crate) mod lot;
pub(crate) mod offer;
pub(super) mod order;
mod order_plan;
pub(crate) mod range;
mod row;
mod sold_form;
mod status;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::map_response;
use kit_http::page_routes::{form, get, post};
use platform_core::Scope;
use platform_core::customers::connections::RESEND_SCOPES;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::file_upload;
use crate::images;

const READ: Need = Need::Has(Scope::AuctionsRead);
const WRITE: Need = Need::Has(Scope::AuctionsWrite);

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions/{auction}/lots", READ),
    ("POST", "/auctions/{auction}/lots/columns", READ),
    ("GET", "/auctions/{auction}/lots/consignors", WRITE),
    ("GET", "/auctions/{auction}/lots/new", WRITE),
    ("POST", "/auctions/{auction}/lots/new", WRITE),
    ("GET", "/auctions/{auction}/lots/import", WRITE),
    ("POST", "/auctions/{auction}/lots/import", WRITE),
    ("GET", "/auctions/{auction}/lots/import/{upload}", WRITE),
    ("POST", "/auctions/{auction}/lots/import/{upload}", WRITE),
    ("GET", "/auctions/{auction}/lots/catalogue.csv", READ),
    ("GET", "/auctions/{auction}/lots/results.csv", READ),
    ("POST", "/auctions/{auction}/lots/bulk", WRITE),
    ("POST", "/auctions/{auction}/lots/bulk/apply", WRITE),
    ("POST", "/auctions/{auction}/lots/formula", WRITE),
    ("POST", "/auctions/{auction}/lots/formula/apply", WRITE),
    ("POST", "/auctions/{auction}/lots/order", WRITE),
    ("POST", "/auctions/{auction}/lots/order/apply", WRITE),
    ("POST", "/auctions/{auction}/lots/order/drop", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}", READ),
    ("POST", "/auctions/{auction}/lots/{lot}/cell", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/edit", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/edit", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/status", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/status", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/offer", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/offer", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/bidder-offer", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/bidder-offer", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/bidder-offer/{offer}/withdraw", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/bidder-offer/{offer}/withdraw", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/hammer-price", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/hammer-price", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/buyer", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/buyer", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/bids/{bid}/cancel", WRITE),
    ("POST", "/auctions/{auction}/lots/{lot}/bids/{bid}/cancel", WRITE),
    ("GET", "/auctions/{auction}/lots/{lot}/deliveries", Need::Has(Scope::EventsRead)),
    ("POST", "/auctions/{auction}/lots/{lot}/deliveries", Need::HasOneOf(RESEND_SCOPES)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/auctions/{auction}/lots", get(grid::page))
        .route("/auctions/{auction}/lots/columns", post(grid_columns::choose))
        .route("/auctions/{auction}/lots/consignors", get(consignors::options))
        .route("/auctions/{auction}/lots/new", form(add::page, add::add))
        .route(
            "/auctions/{auction}/lots/import",
            form(import::page, import::upload).layer(DefaultBodyLimit::max(file_upload::BODY_BYTES_MAX)),
        )
        .route("/auctions/{auction}/lots/import/{upload}", form(import_check::page, import_check::import))
        .route("/auctions/{auction}/lots/catalogue.csv", get(export::catalogue))
        .route("/auctions/{auction}/lots/results.csv", get(export::results))
        .route("/auctions/{auction}/lots/bulk", post(bulk::page))
        .route("/auctions/{auction}/lots/bulk/apply", post(bulk_apply::apply))
        .route("/auctions/{auction}/lots/formula", post(formula::page))
        .route("/auctions/{auction}/lots/formula/apply", post(formula_apply::apply))
        .route("/auctions/{auction}/lots/order", post(order::page))
        .route("/auctions/{auction}/lots/order/apply", post(order::apply))
        .route("/auctions/{auction}/lots/order/drop", post(order::drop_row))
        .route("/auctions/{auction}/lots/{lot}", get(lot::page))
        .route("/auctions/{auction}/lots/{lot}/cell", post(cell::save))
        .route("/auctions/{auction}/lots/{lot}/edit", form(edit::page, edit::save))
        .route("/auctions/{auction}/lots/{lot}/status", form(status::page, status::change))
        .route("/auctions/{auction}/lots/{lot}/offer", form(offer::page, offer::accept))
        .route("/auctions/{auction}/lots/{lot}/bidder-offer", form(bidder_offer::page, bidder_offer::make))
        .route(
            "/auctions/{auction}/lots/{lot}/bidder-offer/{offer}/withdraw",
            form(bidder_offer::withdraw_page, bidder_offer::withdraw),
        )
        .route("/auctions/{auction}/lots/{lot}/hammer-price", form(hammer_price::page, hammer_price::correct))
        .route("/auctions/{auction}/lots/{lot}/buyer", form(buyer::page, buyer::change))
        .route("/auctions/{auction}/lots/{lot}/bids/{bid}/cancel", form(cancel_bid::page, cancel_bid::cancel))
        .route("/auctions/{auction}/lots/{lot}/deliveries", form(deliveries::page, deliveries::resend))
        .layer(map_response(images::allow_other_sites))
}
