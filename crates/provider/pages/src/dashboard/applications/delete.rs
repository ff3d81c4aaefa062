//! Deleting an application, after a page that says what it causes.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::frame::{Frame, render_page};
use provider_core::page::PageRequest;

use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/applications/delete.html")]
struct DeletePage {
    frame: Frame,
    id: String,
    name: String,
    endpoints: u64,
    /// Addresses that receive `endpoint.deleted`.
    notified: Vec<String>,
}

/// The page that asks for a confirmation.
pub(super) async fn page(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let provider = session.provider();
    let application = provider.application(&session.caller, &id).await?;
    let overviews = provider.application_overviews(&session.caller, std::slice::from_ref(&application)).await?;
    let operational = provider.list_operational_endpoints(&session.caller, &PageRequest::default()).await?.data;
    let hears = |types: &Option<Vec<String>>| {
        types.as_ref().is_none_or(|types| types.iter().any(|name| name == "endpoint.deleted"))
    };
    let notified = operational.into_iter().filter(|endpoint| !endpoint.disabled && hears(&endpoint.filter_types));
    render_page(&DeletePage {
        frame: session.frame("Delete application", Section::Applications),
        id: application.id.to_string(),
        name: application.name,
        endpoints: overviews.first().map_or(0, |overview| overview.figures.endpoints),
        notified: notified.map(|endpoint| endpoint.url).collect(),
    })
}

/// Deletes the application and shows the list.
pub(super) async fn delete(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    session.provider().delete_application(&session.caller, &id).await?;
    Ok(session.dashboard.redirect("/applications?done=application-deleted").into_response())
}
