//! Screens of a webcast that only show: the room screen for everyone in the room, and the speaker's view on the rostrum.
//!
//! A page works without script, which then loads it again every two seconds. With script, it fetches its fragment whenever the
//! stream says that something changed, and says "stale" when the server is silent for three seconds. The room screen
//! shows no reserve, no maximum and no name. The speaker's view shows reserve and commission book to users who see them at the
//! desk, and on a link only if the clerk chose that for this link.
//!
//! A screen is shown to a user who is signed in, or on a device that followed a link ([`opened`]). Both get the same pages.

mod links;
mod opened;
mod rates;
mod view;

use std::sync::LazyLock;

use askama::Template;
use axum::Router;
use axum::middleware::map_response;
use axum::response::{Html, IntoResponse as _, Response};
use kit_design::assets::Asset;
use kit_design::error_page::ErrorPage;
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::get;
use platform_core::Scope;
use platform_core::port::ScreenKind;
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::desk::live;
use crate::images;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};
use view::{ScreenView, Viewing};

/// Everyone who may read auctions: the room screen shows what bidders see.
const ROOM: Need = Need::Has(Scope::AuctionsRead);
/// The speaker sees waiting web bids.
const SPEAKER: Need = Need::Has(Scope::RingWrite);
/// Who sets up the screens of a webcast.
const SET_UP: Need = Need::Has(Scope::RingWrite);

/// The pages of this module with the scope that each requires. A page that a link opens requires no session.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/webcasts/{webcast}/room", ROOM),
    ("GET", "/webcasts/{webcast}/room/fragment", ROOM),
    ("GET", "/webcasts/{webcast}/room/live", ROOM),
    ("GET", "/webcasts/{webcast}/speaker", SPEAKER),
    ("GET", "/webcasts/{webcast}/speaker/fragment", SPEAKER),
    ("GET", "/webcasts/{webcast}/speaker/live", SPEAKER),
    ("GET", "/webcasts/{webcast}/screens", SET_UP),
    ("POST", "/webcasts/{webcast}/screens/links", SET_UP),
    ("POST", "/webcasts/{webcast}/screens/links/revoke", SET_UP),
    ("POST", "/webcasts/{webcast}/screens/rates", SET_UP),
    ("POST", "/webcasts/{webcast}/screens/rates/remove", SET_UP),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/webcasts/{webcast}/room", get(room))
        .route("/webcasts/{webcast}/room/fragment", get(room_fragment))
        .route("/webcasts/{webcast}/room/live", get(stream))
        .route("/webcasts/{webcast}/speaker", get(speaker))
        .route("/webcasts/{webcast}/speaker/fragment", get(speaker_fragment))
        .route("/webcasts/{webcast}/speaker/live", get(speaker_stream))
        .merge(links::router())
        .merge(opened::router())
        .layer(map_response(images::allow_other_sites))
}

pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| Asset::style("screen", include_str!("screens/screen.css")));

pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::script("screen", include_str!("screens/screen.js")));

/// The page around a screen.
#[derive(Template)]
#[template(path = "screens/page.html")]
struct ScreenPage {
    frame: Frame,
    /// Path of the screen below the base.
    path: String,
    kind: &'static str,
    fragment: String,
}

#[derive(Template)]
#[template(path = "screens/room.html")]
struct RoomScreen {
    view: ScreenView,
}

#[derive(Template)]
#[template(path = "screens/speaker.html")]
struct SpeakerScreen {
    view: ScreenView,
}

/// The name of a screen.
fn name(kind: ScreenKind) -> &'static str {
    match kind {
        ScreenKind::Room => "Room screen",
        ScreenKind::Speaker => "Speaker's view",
    }
}

/// `GET /webcasts/{webcast}/room`
async fn room(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let path = format!("/webcasts/{webcast}/room");
    page(&session.admin, &viewing(&session, webcast, ScreenKind::Room), path).await
}

/// `GET /webcasts/{webcast}/room/fragment`
async fn room_fragment(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    fragment(&session.admin, &viewing(&session, webcast, ScreenKind::Room)).await
}

/// `GET /webcasts/{webcast}/speaker`
async fn speaker(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let path = format!("/webcasts/{webcast}/speaker");
    page(&session.admin, &viewing(&session, webcast, ScreenKind::Speaker), path).await
}

/// `GET /webcasts/{webcast}/speaker/fragment`
async fn speaker_fragment(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    fragment(&session.admin, &viewing(&session, webcast, ScreenKind::Speaker)).await
}

/// `GET /webcasts/{webcast}/speaker/live`
async fn speaker_stream(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let listener = session.platform().listen_to_ring(&session.caller, webcast).await?;
    Ok(live::respond(listener, session.admin, None))
}

/// `GET /webcasts/{webcast}/room/live`
async fn stream(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let listener = session.platform().listen_to_auction(&session.caller, webcast, None).await?;
    Ok(live::respond(listener, session.admin, None))
}

/// What a user sees. Users who open the speaker's view see the reserve and the book at the desk, too.
fn viewing(session: &Session, webcast: Uuid, kind: ScreenKind) -> Viewing<'_> {
    Viewing { caller: &session.caller, webcast, kind, shows_reserve: kind == ScreenKind::Speaker }
}

/// The page of a screen. `path` is where its fragment and its stream are.
async fn page(admin: &Admin, viewing: &Viewing<'_>, path: String) -> Result<Response, PageError> {
    let kind = viewing.kind;
    let view = view::read(admin, viewing).await?;
    let frame = Frame::signed_out(name(kind), admin.site(), &view.sale);
    let fragment = rendered(kind, view)?;
    render_page(&ScreenPage { frame, path, kind: kind.name(), fragment })
}

/// What the page of a screen fetches after each change.
async fn fragment(admin: &Admin, viewing: &Viewing<'_>) -> Result<Response, PageError> {
    let view = view::read(admin, viewing).await?;
    Ok(Html(rendered(viewing.kind, view)?).into_response())
}

fn rendered(kind: ScreenKind, view: ScreenView) -> Result<String, ErrorPage> {
    let rendered = match kind {
        ScreenKind::Room => RoomScreen { view }.render(),
        ScreenKind::Speaker => SpeakerScreen { view }.render(),
    };
    rendered.map_err(|error| {
        tracing::error!(%error, "the server could not render a screen");
        ErrorPage::internal()
    })
}
