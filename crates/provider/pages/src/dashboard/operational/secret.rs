//! The signing secret of an operational endpoint: revealing and rotating it.

use axum::response::{IntoResponse as _, Response};

use super::detail;
use crate::dashboard::session::{DashboardSession, PathParams};
use crate::page_error::PageError;

/// The page with the secret shown. The request is a POST, so the secret gets into no history and no prefetch.
pub(super) async fn reveal(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let endpoint = session.provider().operational_endpoint(&session.caller, &id).await?;
    let secret = session.provider().operational_secret(&session.caller, &endpoint.id).await?;
    detail::render(&session, &endpoint, None, Some(secret))
}

/// Gives the endpoint a new secret. The old one also signs for 24 hours.
pub(super) async fn rotate(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    session.provider().rotate_operational_secret(&session.caller, &id, None, None, None).await?;
    let path = format!("/operational-webhooks/{id}?done=operational-rotated");
    Ok(session.dashboard.redirect(&path).into_response())
}
