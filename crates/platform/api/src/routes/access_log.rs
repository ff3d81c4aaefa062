//! The log of access.

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;

use crate::errors::ApiError;
use crate::extract::{ListQuery, QueryRequest};
use crate::models::{AccessEntryView, List};
use crate::response;

/// Lists who signed in or was refused, and who has changed who may do what, the latest first. Only for the platform's own staff.
/// Scope `users:read`.
#[utoipa::path(get, path = "/access-log", tag = "access", params(ListQuery),
    responses((status = 200, body = List<AccessEntryView>)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let rows = platform.access_log(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(rows, page, |row| row.number, |row| AccessEntryView::from(row)))
}
