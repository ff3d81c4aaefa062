//! Screens of a webcast that only show: the room screen for everyone in the room, and the speaker's view on the rostrum.
//!
//! A page works without script, which then loads it again every two seconds. With script, it fetches its fragment whenever the
//! stream says that something changed, and says "stale" when the server is silent for three seconds. No screen shows a
//! reserve, a maximum or a name.

mod view;

use std::sync::LazyLock;

use askama::Template;
use axum::Router;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use kit_design::assets::Asset;
use kit_design::error_page::ErrorPage;
use kit_design::frame::render_page;
use platform_core::Scope;
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::desk::live;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};
use view::ScreenView;

/// Everyone who may read auctions: the room screen shows what bidders see.
const ROOM: Need = Need::Has(Scope::AuctionsRead);
/// The speaker sees waiting web bids.
const SPEAKER: Need = Need::Has(Scope::RingWrite);

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/webcasts/{webcast}/room", ROOM),
    ("GET", "/webcasts/{webcast}/room/fragment", ROOM),
    ("GET", "/webcasts/{webcast}/room/live", ROOM),
    ("GET", "/webcasts/{webcast}/speaker", SPEAKER),
    ("GET", "/webcasts/{webcast}/speaker/fragment", SPEAKER),
    ("GET", "/webcasts/{webcast}/speaker/live", SPEAKER),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/webcasts/{webcast}/room", get(room))
        .route("/webcasts/{webcast}/room/fragment", get(room_fragment))
        .route("/webcasts/{webcast}/room/live", get(stream))
        .route("/webcasts/{webcast}/speaker", get(speaker))
        .route("/webcasts/{webcast}/speaker/fragment", get(speaker_fragment))
        .route("/webcasts/{webcast}/speaker/live", get(stream))
}

pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("screen", "css", "text/css; charset=utf-8", include_str!("screens/screen.css")));

pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::script("screen", include_str!("screens/screen.js")));

/// The page around a screen.
#[derive(Template)]
#[template(path = "screens/page.html")]
struct ScreenPage {
    base: String,
    /// Path of the screen below the base.
    path: String,
    kind: &'static str,
    name: &'static str,
    fragment: String,
    sale: String,
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

/// `GET /webcasts/{webcast}/room`
async fn room(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let view = view::read(&session, webcast).await?;
    let sale = view.sale.clone();
    let fragment = rendered(&RoomScreen { view })?;
    page(&session, webcast, ("room", "Room screen"), sale, fragment)
}

/// `GET /webcasts/{webcast}/room/fragment`
async fn room_fragment(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let view = view::read(&session, webcast).await?;
    Ok(Html(rendered(&RoomScreen { view })?).into_response())
}

/// `GET /webcasts/{webcast}/speaker`
async fn speaker(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let view = view::read(&session, webcast).await?;
    let sale = view.sale.clone();
    let fragment = rendered(&SpeakerScreen { view })?;
    page(&session, webcast, ("speaker", "Speaker's view"), sale, fragment)
}

/// `GET /webcasts/{webcast}/speaker/fragment`
async fn speaker_fragment(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let view = view::read(&session, webcast).await?;
    Ok(Html(rendered(&SpeakerScreen { view })?).into_response())
}

/// `GET /webcasts/{webcast}/room/live` and `…/speaker/live`
async fn stream(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let listener = session.platform().listen_to_auction(&session.caller, webcast, None).await?;
    Ok(live::respond(listener, session.admin))
}

fn page(
    session: &Session,
    webcast: Uuid,
    (kind, name): (&'static str, &'static str),
    sale: String,
    fragment: String,
) -> Result<Response, PageError> {
    let base = session.admin.site().base.to_string();
    render_page(&ScreenPage { base, path: format!("/webcasts/{webcast}/{kind}"), kind, name, fragment, sale })
}

fn rendered(template: &impl Template) -> Result<String, ErrorPage> {
    template.render().map_err(|error| {
        tracing::error!(%error, "the server could not render a screen");
        ErrorPage::internal()
    })
}
