//! Papers of a sale: catalogue, clerking sheets, paddle list, commission book and results, as pages that a browser prints
//! or saves as PDF.
//!
//! Guarantees: a paper shows a user what the pages of the sale show the same user; each printed page names the house, the
//! sale, its date with the zone, and when and by whom it was printed; a paper with reserves, maxima or bidders' names says
//! "Confidential" on each page; no paper is cut off without saying so.

mod book;
mod catalogue;
mod clerking;
mod index;
mod lots;
mod paddles;
mod paper;
mod results;
mod table;

use std::sync::LazyLock;

use axum::Router;
use axum::middleware::map_response;
use kit_design::assets::Asset;
use kit_http::page_routes::get;
use platform_core::Scope;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::images;

/// Styles of papers, on screen and printed.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| Asset::style("print", include_str!("print/print.css")));
/// The button that opens the browser's print dialog.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::script("print", include_str!("print/print.js")));

const READ: Need = Need::Has(Scope::AuctionsRead);

/// The pages of this module with the scope that each requires: that of the page on screen with the same data.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions/{auction}/print", READ),
    ("GET", "/auctions/{auction}/print/catalogue", READ),
    ("GET", "/auctions/{auction}/print/clerking", READ),
    ("GET", "/auctions/{auction}/print/paddles", Need::Has(Scope::BiddersRead)),
    ("GET", "/auctions/{auction}/print/book", Need::Has(Scope::RingWrite)),
    ("GET", "/auctions/{auction}/print/results", READ),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/auctions/{auction}/print", get(index::page))
        .route(
            "/auctions/{auction}/print/catalogue",
            get(catalogue::page).layer(map_response(images::allow_other_sites)),
        )
        .route("/auctions/{auction}/print/clerking", get(clerking::page))
        .route("/auctions/{auction}/print/paddles", get(paddles::page))
        .route("/auctions/{auction}/print/book", get(book::page))
        .route("/auctions/{auction}/print/results", get(results::page))
}
