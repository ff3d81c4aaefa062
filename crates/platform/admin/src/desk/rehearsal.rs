//! A rehearsal: a copy of the webcast to practise on, of which nothing is sent.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::frame::{Frame, render_page};
use uuid::Uuid;

use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "desk/rehearsal.html")]
struct RehearsalPage {
    frame: Frame,
    title: String,
    webcast: Uuid,
    lots: u64,
}

/// `GET /webcasts/{webcast}/rehearsal`: what a rehearsal is, and the button that starts one.
pub(super) async fn page(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let title = session.platform().auction(&session.caller, webcast).await?.title;
    let lots = session.platform().item_counts(&session.caller, webcast).await?.total;
    let frame = session.frame("Rehearse the webcast", Section::Auctions);
    render_page(&RehearsalPage { frame, title, webcast, lots })
}

/// `POST /webcasts/{webcast}/rehearsal`: copies the webcast and opens the desk of the copy.
pub(super) async fn start(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, PageError> {
    let rehearsal = session.platform().rehearse(&session.caller, webcast).await?;
    Ok(session.admin.redirect(&super::path_of(rehearsal.uuid)).into_response())
}
