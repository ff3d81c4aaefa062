//! The log of access.

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;

use crate::answer;
use crate::ask::{Asked, ListQuery};
use crate::errors::ApiError;
use crate::models::{AccessEntryView, List};

/// Lists who signed in or was refused, and who has changed who may do what, the latest first. Only for the platform's own staff.
/// Scope `users:read`.
#[utoipa::path(get, path = "/access-log", tag = "access", params(ListQuery),
    responses((status = 200, body = List<AccessEntryView>)))]
pub(crate) async fn list(State(platform): State<Platform>, asked: Asked<ListQuery>) -> Result<Response, ApiError> {
    let page = asked.query.page::<i64>()?;
    let rows = platform.access_log(&asked.caller, page.more()).await?;
    Ok(answer::list(rows, page, |row| row.number, |row| AccessEntryView::from(row)))
}
