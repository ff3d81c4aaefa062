//! The record of an item's sale, which a reader can verify without this platform.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::{Platform, PlatformError};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::models::RecordView;
use crate::response;

/// Which part of a record.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordQuery {
    /// `next` of the previous part. Default: 0, the first part.
    #[param(minimum = 0)]
    #[serde(default)]
    after: i64,
}

/// Export the record of an item's sale
///
/// The complete log of the item, chained by hash, in parts of at most 10,000 entries. The reader can verify it
/// without this platform. Maxima, the reserve, the vendor and offers that only the clerk sees are commitments in it.
/// Scope `auctions:read`. The record shows that absentee bids exist: for an item of a webcast that is not yet sold,
/// unsold or withdrawn, the caller needs `ring:write` too (409 `record_not_open`).
#[utoipa::path(
    get, path = "/items/{uuid}/record", tag = "items",
    params(("uuid" = Uuid, Path), RecordQuery),
    responses(
        (status = 200, description = "A part of the record.", body = RecordView),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(crate) async fn record(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<RecordQuery>,
) -> Result<Response, ApiError> {
    let record = platform.record(&request.caller, uuid, request.query.after).await.map_err(as_query_error)?;
    Ok(response::ok(&RecordView::from(&record)))
}

/// An `after` beyond the record is an error of the query.
fn as_query_error(error: PlatformError) -> ApiError {
    match error {
        PlatformError::Invalid(problems) => {
            let message = problems.into_iter().next().map(|problem| problem.message).unwrap_or_default();
            ApiError::invalid_query("after", message)
        }
        error => error.into(),
    }
}
