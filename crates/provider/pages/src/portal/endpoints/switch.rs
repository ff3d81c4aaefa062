//! Switching an endpoint on and off.

use axum::response::Redirect;
use provider_core::Switch;

use crate::portal::session::{At, Session};
use crate::shared::refusal::Refusal;

/// On.
pub(in crate::portal) async fn enable(session: Session, At([endpoint]): At<1>) -> Result<Redirect, Refusal> {
    switch(&session, &endpoint, Switch::On, "enabled").await
}

/// Off.
pub(in crate::portal) async fn disable(session: Session, At([endpoint]): At<1>) -> Result<Redirect, Refusal> {
    switch(&session, &endpoint, Switch::Off, "disabled").await
}

async fn switch(session: &Session, endpoint: &str, switch: Switch, done: &str) -> Result<Redirect, Refusal> {
    let endpoint = session.provider().switch_endpoint(&session.caller, session.app(), endpoint, switch).await?;
    Ok(session.portal.redirect(&format!("/endpoints/{}?done={done}", endpoint.id)))
}
