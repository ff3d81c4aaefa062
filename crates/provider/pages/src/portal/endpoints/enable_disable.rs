//! Enabling an endpoint, and disabling it after a confirmation.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::frame::{Frame, render_page};
use provider_core::Switch;

use super::head::{Head, Tab};
use super::list::EndpointDay;
use crate::page_error::PageError;
use crate::portal::session::{PathParams, Section, Session};

#[derive(Template)]
#[template(path = "portal/endpoints/disable.html")]
struct DisablePage {
    frame: Frame,
    head: Head,
    day: Option<EndpointDay>,
}

/// The confirmation; the page of the endpoint when it is disabled already.
pub(in crate::portal) async fn page(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Response, PageError> {
    let endpoint = session.endpoint(&endpoint).await?;
    if endpoint.disabled {
        return Ok(session.portal.redirect(&format!("/endpoints/{}", endpoint.id)).into_response());
    }
    let mut head = Head::new(&session, &endpoint, Tab::Other);
    // The page has the button itself.
    head.may_manage = false;
    render_page(&DisablePage {
        frame: session.frame("Disable endpoint", Section::Endpoints),
        head,
        day: super::list::endpoint_day(&session, &endpoint).await?,
    })
}

/// Enables the endpoint.
pub(in crate::portal) async fn enable(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Redirect, PageError> {
    set_enabled(&session, &endpoint, Switch::On, "enabled").await
}

/// Disables the endpoint.
pub(in crate::portal) async fn disable(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Redirect, PageError> {
    set_enabled(&session, &endpoint, Switch::Off, "disabled").await
}

async fn set_enabled(session: &Session, endpoint: &str, switch: Switch, done: &str) -> Result<Redirect, PageError> {
    let endpoint = session.provider().switch_endpoint(&session.caller, session.app(), endpoint, switch).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{}?done={done}", endpoint.id)))
}
