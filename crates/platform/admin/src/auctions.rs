//! Auctions: list, creation, copy, edit, and the pages of one auction. Its lots, ends, registrations and results are in
//! modules of their own.

mod announced;
pub(crate) mod blockers;
pub(crate) mod clerks;
mod copy;
mod edit;
pub(crate) mod facts_form;
mod for_bidders;
mod form;
pub(crate) mod list;
mod new;
mod overview;
pub(crate) mod owners;
mod status;
mod timeline;

pub(crate) use form::{CURRENCIES, TIME_ZONES};

use axum::Router;
use kit_http::page_routes::{form, get, post};
use platform_core::Scope;

use crate::access::{Need, Page};
use crate::admin::Admin;

const READ: Need = Need::Has(Scope::AuctionsRead);
const WRITE: Need = Need::Has(Scope::AuctionsWrite);

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions", READ),
    ("GET", "/auctions/new", WRITE),
    ("POST", "/auctions/new", WRITE),
    ("GET", "/auctions/{auction}", READ),
    ("GET", "/auctions/{auction}/edit", WRITE),
    ("POST", "/auctions/{auction}/edit", WRITE),
    ("GET", "/auctions/{auction}/copy", WRITE),
    ("POST", "/auctions/{auction}/copy", WRITE),
    ("GET", "/auctions/{auction}/status", WRITE),
    ("POST", "/auctions/{auction}/status", WRITE),
    ("POST", "/auctions/{auction}/clerks", WRITE),
    ("GET", "/auctions/{auction}/timeline", Need::Has(Scope::EventsRead)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/auctions", get(list::page))
        .route("/auctions/new", form(new::page, new::create))
        .route("/auctions/{auction}", get(overview::page))
        .route("/auctions/{auction}/edit", form(edit::page, edit::save))
        .route("/auctions/{auction}/copy", form(copy::page, copy::copy))
        .route("/auctions/{auction}/status", form(status::page, status::change))
        .route("/auctions/{auction}/clerks", post(clerks::change))
        .route("/auctions/{auction}/timeline", get(timeline::page))
}
