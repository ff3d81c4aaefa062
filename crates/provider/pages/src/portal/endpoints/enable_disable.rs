//! Enabling and disabling an endpoint.

use axum::response::Redirect;
use provider_core::Switch;

use crate::page_error::PageError;
use crate::portal::session::{PathParams, Session};

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
