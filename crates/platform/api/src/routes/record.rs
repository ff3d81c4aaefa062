//! The record of one sale, for somebody outside.

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
    /// `next` of the part before; 0 without.
    #[param(minimum = 0)]
    #[serde(default)]
    after: i64,
}

/// Exports the record of an item's sale: everything that happened to it, chained by hash, at most 10,000 entries a part. What
/// bidders would have paid, the reserve, the vendor and offers that only the clerk sees are in it as commitments. Whoever is
/// given it can check it without this platform. It tells that absentees left bids: of an item of a webcast that is not sold,
/// unsold or withdrawn yet it takes `ring:write` too (409 `record_not_open`). Scope `auctions:read`.
#[utoipa::path(get, path = "/items/{uuid}/record", tag = "items", params(("uuid" = Uuid, Path), RecordQuery),
    responses((status = 200, body = RecordView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn record(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<RecordQuery>,
) -> Result<Response, ApiError> {
    let record = platform.record(&request.caller, uuid, request.query.after).await.map_err(as_query_error)?;
    Ok(response::ok(&RecordView::from(&record)))
}

/// A part that there is none of is a mistake of the query.
fn as_query_error(error: PlatformError) -> ApiError {
    match error {
        PlatformError::Invalid(problems) => {
            let message = problems.into_iter().next().map(|problem| problem.message).unwrap_or_default();
            ApiError::invalid_query("after", message)
        }
        error => error.into(),
    }
}
