//! Endpoints of all applications of the account: see [`crate::endpoints`].

use askama::Template;
use axum::Router;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::get;
use provider_core::model::Role;

use super::Dashboard;
use super::access::Page;
use super::session::{DashboardSession, Section};
use crate::endpoints::list::{self, EndpointList, ListPlace};
use crate::page_error::PageError;

pub(super) const PAGES: &[Page] = &[("GET", "/endpoints", Role::Viewer)];

pub(super) fn router() -> Router<Dashboard> {
    Router::new().route("/endpoints", get(page))
}

#[derive(Template)]
#[template(path = "dashboard/endpoints.html")]
struct EndpointsPage {
    frame: Frame,
    list: EndpointList,
}

/// The list of endpoints that match the search.
async fn page(session: DashboardSession, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let of = ListPlace { place: session.place(), application: None, path: "/endpoints".to_owned(), anchor: "" };
    let list = list::list(of, &query).await?;
    render_page(&EndpointsPage { frame: session.frame("Endpoints", Section::Endpoints), list })
}
