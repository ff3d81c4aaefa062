//! "Preview App Portal": opens the portal of an application as its engineers see it.

use axum::response::{IntoResponse as _, Redirect, Response};

use crate::dashboard::session::{DashboardSession, PathParams};
use crate::page_error::PageError;

/// Makes a link that works once, and follows it. The link's code is in the fragment of the address, which no server receives.
pub(super) async fn open(session: DashboardSession, PathParams([id]): PathParams<1>) -> Result<Response, PageError> {
    let access = session.provider().create_portal_preview(&session.caller, &id).await?;
    Ok(Redirect::to(&access.url).into_response())
}
