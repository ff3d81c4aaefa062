//! Switching an endpoint on and off.

use axum::response::Redirect;
use provider_core::Switch;

use crate::portal::session::{PathParams, Session};
use crate::shared::error_page::ErrorPage;

/// On.
pub(in crate::portal) async fn enable(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Redirect, ErrorPage> {
    set_enabled(&session, &endpoint, Switch::On, "enabled").await
}

/// Off.
pub(in crate::portal) async fn disable(
    session: Session,
    PathParams([endpoint]): PathParams<1>,
) -> Result<Redirect, ErrorPage> {
    set_enabled(&session, &endpoint, Switch::Off, "disabled").await
}

async fn set_enabled(session: &Session, endpoint: &str, switch: Switch, done: &str) -> Result<Redirect, ErrorPage> {
    let endpoint = session.provider().switch_endpoint(&session.caller, session.app(), endpoint, switch).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{}?done={done}", endpoint.id)))
}
