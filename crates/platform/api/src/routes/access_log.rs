//! The access log.

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;

use crate::errors::ApiError;
use crate::extract::QueryRequest;
use crate::models::{AccessEntryView, List};
use crate::pagination::ListQuery;
use crate::response;

/// List the access log
///
/// Sign-ins, refused sign-ins, and changes of users, keys, clerks and connections, the latest first. Only for the
/// platform's own staff; scope `users:read`.
#[utoipa::path(
    get, path = "/access-log", tag = "access",
    params(ListQuery),
    responses(
        (
            status = 200, description = "A page of the access log, the latest entry first.",
            body = List<AccessEntryView>,
        ),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let rows = platform.access_log(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(rows, page, |row| row.number, |row| AccessEntryView::from(row)))
}
