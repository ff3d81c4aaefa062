//! "Preview App Portal": opens the portal of an application as its engineers see it.

use axum::response::{IntoResponse as _, Redirect, Response};
use provider_core::PortalAccessInput;

use crate::dashboard::session::{DashboardSession, PathParams};
use crate::page_error::PageError;

/// Seconds that the portal stays open.
const PREVIEW_S: i64 = 3_600;

/// Makes a link and follows it. The link's token is in the fragment of the address, which no server receives.
pub(super) async fn open(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let input = PortalAccessInput { expiry_seconds: Some(PREVIEW_S), ..PortalAccessInput::default() };
    let access = session.provider().create_portal_access(&session.caller, &id, input).await?;
    Ok(Redirect::to(&access.url).into_response())
}
