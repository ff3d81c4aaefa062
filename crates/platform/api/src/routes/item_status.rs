//! The status of an item: changed by an administrator, and its history.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::ItemStatus;
use platform_core::Platform;
use platform_core::journal::SubjectKind;
use platform_rules::{Auction, Item};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::status;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::{Post, QueryRequest};
use crate::models::{HistoryView, ItemView, List};
use crate::pagination::ListQuery;
use crate::response;

/// The new status, with its reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemStatusIn {
    /// Status name, such as `WITHDRAWN`.
    status: String,
    /// Required for a suspension, the end of a suspension, a correction, and a buyer who did not pay; at most 500
    /// characters.
    reason: Option<String>,
}

/// Change an item's status
///
/// By an administrator: set-up, suspension, withdrawal, and the correction of a sold or passed item. From SOLD or
/// SOLD_BUY_NOW to UNSOLD, the buyer did not pay. An UNSOLD item is sold with `POST /items/{uuid}/offer`. Requires
/// `If-Match` (412 `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`; for a correction,
/// `ring:write` is enough. Errors: 409 `illegal_transition`, `fields_missing`, `item_has_bids`, `item_in_ring`,
/// `end_not_in_future`, `auction_not_live`, `auction_closed`, `offer_required`, `items_following`; 422
/// `reason_required`.
#[utoipa::path(
    post, path = "/items/{uuid}/status", tag = "items", request_body = ItemStatusIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The item after the change.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change_status(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ItemStatusIn>,
) -> Result<Response, ApiError> {
    let to: ItemStatus = status("/status", &post.body.status)?;
    let expected = post.required_version()?;
    let (before, auction): (Item, Auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(etag::item_etag(item, &auction, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let reason = post.body.reason.clone();
    // LIVE after SOLD or PASSED corrects a hammer fall, for which other rules and scopes hold.
    let is_correction = to == ItemStatus::Live && matches!(before.status, ItemStatus::Sold | ItemStatus::Passed);
    let outcome = if is_correction {
        platform.correct_item(&post.caller, uuid, reason.unwrap_or_default(), Some(expected), idempotent).await?
    } else {
        platform.change_item_status(&post.caller, uuid, to, reason, Some(expected), idempotent).await?
    };
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// List an item's history
///
/// Its status changes in order, with causes and actors. Scope `events:read`.
#[utoipa::path(
    get, path = "/items/{uuid}/history", tag = "items",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (status = 200, description = "A page of status changes, the first one first.", body = List<HistoryView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn history(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let rows = platform.history(&request.caller, (SubjectKind::Item, uuid), page.with_lookahead()).await?;
    Ok(response::list(rows, page, |row| row.sequence, |row| HistoryView::from(row)))
}
