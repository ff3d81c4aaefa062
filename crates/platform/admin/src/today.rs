//! The first page: what needs doing.

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use kit_design::frame::{Frame, render_page};

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{Section, Session};

pub(crate) const PAGES: &[Page] = &[("GET", "/", Need::SignedIn)];

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/", get(page))
}

#[derive(Template)]
#[template(path = "today.html")]
struct TodayPage {
    frame: Frame,
}

async fn page(session: Session) -> Result<Response, PageError> {
    render_page(&TodayPage { frame: session.frame("Today", Section::Today) })
}
