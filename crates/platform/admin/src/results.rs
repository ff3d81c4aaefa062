//! After the sale: what was sold to whom and for how much, and what did not sell.

mod list;
mod relist;
mod totals;
mod unpaid;
mod way_back;

use std::sync::LazyLock;

use axum::Router;
use kit_design::assets::Asset;
use kit_http::page_routes::{form, get};
use platform_core::Scope;

use crate::access::{Need, Page};
use crate::admin::Admin;

pub(crate) use self::relist::notice as relisted_notice;
pub(crate) use self::way_back::WayBack;

/// Count and sum of the lots that are ticked as unpaid.
pub(crate) static UNPAID: LazyLock<Asset> =
    LazyLock::new(|| Asset::script("unpaid", include_str!("results/unpaid.js")));

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions/{auction}/results", Need::Has(Scope::AuctionsRead)),
    ("GET", "/auctions/{auction}/results/totals", Need::Has(Scope::AuctionsRead)),
    ("GET", "/auctions/{auction}/results/unpaid", Need::Has(Scope::AuctionsWrite)),
    ("POST", "/auctions/{auction}/results/unpaid", Need::Has(Scope::AuctionsWrite)),
    ("GET", "/auctions/{auction}/results/relist", Need::Has(Scope::AuctionsWrite)),
    ("POST", "/auctions/{auction}/results/relist", Need::Has(Scope::AuctionsWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/auctions/{auction}/results", get(list::page))
        .route("/auctions/{auction}/results/totals", get(totals::page))
        .route("/auctions/{auction}/results/unpaid", form(unpaid::page, unpaid::record))
        .route("/auctions/{auction}/results/relist", form(relist::page, relist::relist))
}
