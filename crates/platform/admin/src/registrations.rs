//! Registrations of bidders for an auction: the queue, decisions singly and in bulk, limits and paddles.

mod decide;
mod edit;
mod late_bids;
mod limit;
mod list;
mod message;
mod place;
mod view;

use axum::Router;
use kit_http::page_routes::{form, get, post};
use platform_core::Scope;

use crate::access::{Need, Page};
use crate::admin::Admin;

const READ: Need = Need::Has(Scope::BiddersRead);
/// Those who decide on registrations also read the register, which these pages show a part of.
const WRITE: Need = Need::Has(Scope::BiddersWrite);
/// The clerks of a webcast write to its bidders, too.
const MAY_MESSAGE: Need = Need::HasOneOf(&[Scope::BiddersWrite, Scope::RingWrite]);

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/auctions/{auction}/registrations", READ),
    ("GET", "/auctions/{auction}/late-bids", READ),
    ("GET", "/auctions/{auction}/message", MAY_MESSAGE),
    ("POST", "/auctions/{auction}/message", MAY_MESSAGE),
    ("GET", "/auctions/{auction}/registrations/shared", WRITE),
    ("GET", "/auctions/{auction}/registrations/{registration}", WRITE),
    ("POST", "/auctions/{auction}/registrations/approve", WRITE),
    ("GET", "/auctions/{auction}/registrations/new", WRITE),
    ("POST", "/auctions/{auction}/registrations/new", WRITE),
    ("GET", "/auctions/{auction}/registrations/{registration}/edit", WRITE),
    ("POST", "/auctions/{auction}/registrations/{registration}/edit", WRITE),
    ("GET", "/auctions/{auction}/registrations/{registration}/decide", WRITE),
    ("POST", "/auctions/{auction}/registrations/{registration}/decide", WRITE),
    ("GET", "/auctions/{auction}/registrations/{registration}/limit", WRITE),
    ("POST", "/auctions/{auction}/registrations/{registration}/limit", WRITE),
    ("GET", "/auctions/{auction}/registrations/{registration}/limit/decline", WRITE),
    ("POST", "/auctions/{auction}/registrations/{registration}/limit/decline", WRITE),
];

pub(crate) fn router() -> Router<Admin> {
    let one = "/auctions/{auction}/registrations/{registration}";
    Router::new()
        .route("/auctions/{auction}/registrations", get(list::page))
        .route("/auctions/{auction}/late-bids", get(late_bids::page))
        .route("/auctions/{auction}/message", form(message::page, message::send))
        .route("/auctions/{auction}/registrations/shared", get(view::shared))
        .route(one, get(view::page))
        .route("/auctions/{auction}/registrations/approve", post(decide::approve))
        .route("/auctions/{auction}/registrations/new", form(edit::new_page, edit::register))
        .route(&format!("{one}/edit"), form(edit::page, edit::save))
        .route(&format!("{one}/decide"), form(decide::page, decide::decide))
        .route(&format!("{one}/limit"), form(limit::page, limit::grant))
        .route(&format!("{one}/limit/decline"), form(limit::decline_page, limit::decline))
}
