//! Deleting an operational endpoint, after a page that says what it causes.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::frame::{Frame, render_page};

use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/operational/delete.html")]
struct DeletePage {
    frame: Frame,
    id: String,
    url: String,
}

/// The page that asks for a confirmation.
pub(super) async fn page(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let endpoint = session.provider().operational_endpoint(&session.caller, &id).await?;
    render_page(&DeletePage {
        frame: session.frame("Delete operational endpoint", Section::Operational),
        id: endpoint.id.to_string(),
        url: endpoint.url,
    })
}

/// Deletes the endpoint and shows the list.
pub(super) async fn delete(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    session.provider().delete_operational_endpoint(&session.caller, &id).await?;
    Ok(session.dashboard.redirect("/operational-webhooks?done=operational-deleted").into_response())
}
