//! The clerk's desk of a webcast, made for one person under pressure and one keyboard.
//!
//! The page is a skeleton; its script fetches [`state`] and shows nothing else. A command names the versions that the clerk
//! saw, and is answered after its commit. The stream of [`live`] says that something changed, and the desk fetches the state
//! again.
//!
//! Guarantees: of two desks that act on the same state, one gets 412 with the present state. A command carries an
//! idempotency key: [`commands::outcome`] tells a desk whose link was lost whether the command was done, and does nothing.

pub(crate) mod amounts;
mod buyer;
mod commands;
pub(crate) mod files;
pub(crate) mod live;
mod lots;
mod messages;
mod names;
mod problem;
mod rehearsal;
mod state;
mod waiting;

use askama::Template;
use axum::Router;
use axum::middleware::map_response;
use axum::response::Response;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{form, get, post};
use platform_core::Scope;
use platform_core::ring::VISITOR_MESSAGE_CHARS_MAX;
use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::images;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};

const CLERKS: Need = Need::Has(Scope::RingWrite);

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/webcasts/{webcast}/desk", CLERKS),
    ("GET", "/webcasts/{webcast}/desk/state", CLERKS),
    ("GET", "/webcasts/{webcast}/desk/live", CLERKS),
    ("POST", "/webcasts/{webcast}/desk/held", CLERKS),
    ("GET", "/webcasts/{webcast}/desk/lots", CLERKS),
    ("POST", "/webcasts/{webcast}/desk/commands", CLERKS),
    ("POST", "/webcasts/{webcast}/desk/outcome", CLERKS),
    ("POST", "/webcasts/{webcast}/desk/message", CLERKS),
    ("GET", "/webcasts/{webcast}/rehearsal", Need::Has(Scope::AuctionsWrite)),
    ("POST", "/webcasts/{webcast}/rehearsal", Need::Has(Scope::AuctionsWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/webcasts/{webcast}/desk", get(page))
        .route("/webcasts/{webcast}/desk/state", get(state::current))
        .route("/webcasts/{webcast}/desk/live", get(live::stream))
        .route("/webcasts/{webcast}/desk/held", post(live::held))
        .route("/webcasts/{webcast}/desk/lots", get(lots::list))
        .route("/webcasts/{webcast}/desk/commands", post(commands::give))
        .route("/webcasts/{webcast}/desk/outcome", post(commands::outcome))
        .route("/webcasts/{webcast}/desk/message", post(messages::write))
        .route("/webcasts/{webcast}/rehearsal", form(rehearsal::page, rehearsal::start))
        .layer(map_response(images::allow_other_sites))
}

/// A link from the desk to a screen of the same webcast, or to their set-up.
struct ScreenLink {
    words: &'static str,
    path: String,
}

#[derive(Template)]
#[template(path = "desk/page.html")]
struct DeskPage {
    frame: Frame,
    path: String,
    sale_path: String,
    rehearsal_path: String,
    is_rehearsal: bool,
    may_rehearse: bool,
    may_close: bool,
    clerk: String,
    message_chars_max: usize,
    screens: Vec<ScreenLink>,
}

/// `GET /webcasts/{webcast}/desk`
async fn page(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    // Rejects a clerk of other webcasts.
    let auction = session.platform().ring(&session.caller, webcast).await?.auction;
    if auction.kind != AuctionKind::Webcast {
        let detail = "This is a timed auction. It ends by itself and has no desk.";
        return Err(ErrorPage::new(StatusCode::NOT_FOUND, "This sale has no desk", detail).into());
    }
    render_page(&DeskPage {
        frame: Frame::signed_out("Desk", session.admin.site(), &auction.title),
        path: path_of(webcast),
        sale_path: format!("/auctions/{webcast}"),
        rehearsal_path: format!("/webcasts/{webcast}/rehearsal"),
        is_rehearsal: auction.rehearsal,
        may_rehearse: session.may(Scope::AuctionsWrite) && !auction.rehearsal,
        may_close: session.may(Scope::AuctionsWrite),
        clerk: session.shown_name().to_owned(),
        message_chars_max: VISITOR_MESSAGE_CHARS_MAX,
        screens: vec![
            ScreenLink { words: "Commission book", path: format!("/webcasts/{webcast}/book") },
            ScreenLink { words: "Room screen", path: format!("/webcasts/{webcast}/room") },
            ScreenLink { words: "Speaker's view", path: format!("/webcasts/{webcast}/speaker") },
            ScreenLink { words: "Set up screens", path: format!("/webcasts/{webcast}/screens") },
        ],
    })
}

/// Path of the desk below the site's base.
fn path_of(webcast: Uuid) -> String {
    format!("/webcasts/{webcast}/desk")
}
