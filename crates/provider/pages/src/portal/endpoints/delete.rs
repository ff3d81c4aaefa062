//! Deleting an endpoint, after a confirmation.

use askama::Template;
use axum::response::{Redirect, Response};

use super::head::{Head, Tab};
use super::list::EndpointDay;
use crate::page_error::PageError;
use crate::portal::session::{PathParams, Section, Session};
use kit_design::frame::{Frame, render_page};

#[derive(Template)]
#[template(path = "portal/endpoints/delete.html")]
struct DeletePage {
    frame: Frame,
    head: Head,
    day: Option<EndpointDay>,
}

/// The confirmation.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    render_page(&DeletePage {
        frame: session.frame("Delete endpoint", Section::Endpoints),
        head: Head::new(&session, &endpoint, Tab::Other),
        day: super::list::endpoint_day(&session, &endpoint).await?,
    })
}

/// Deletes the endpoint.
pub(in crate::portal) async fn delete(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Redirect, PageError> {
    session.provider().delete_endpoint(&session.caller, session.app(), &endpoint).await?;
    Ok(session.portal.redirect("/endpoints?done=deleted"))
}
