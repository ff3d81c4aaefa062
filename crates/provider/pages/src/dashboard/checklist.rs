//! The first page: what is left to set up.

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use kit_design::frame::{Frame, render_page};
use provider_core::people::Role;

use super::Dashboard;
use super::access::Page;
use super::session::{DashboardSession, Section};
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[("GET", "/", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/", get(page))
}

#[derive(Template)]
#[template(path = "dashboard/checklist.html")]
struct ChecklistPage {
    frame: Frame,
}

async fn page(session: DashboardSession) -> Result<Response, PageError> {
    render_page(&ChecklistPage { frame: session.frame("Overview", Section::Overview) })
}
