//! The record of one sale, for somebody outside.

use axum::extract::{Path, State};
use axum::response::Response;
use platform::Platform;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::answer;
use crate::ask::Asked;
use crate::errors::{ApiError, Problem};
use crate::models::RecordView;

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
/// given it can check it without this platform. Scope `auctions:read`.
#[utoipa::path(get, path = "/items/{uuid}/record", tag = "items", params(("uuid" = Uuid, Path), RecordQuery),
    responses((status = 200, body = RecordView), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn record(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    asked: Asked<RecordQuery>,
) -> Result<Response, ApiError> {
    let record = platform.record(&asked.caller, uuid, asked.query.after).await?;
    Ok(answer::ok(&RecordView::from(&record)))
}
