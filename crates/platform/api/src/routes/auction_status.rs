//! The status of an auction: changed by an administrator, and its history.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::journal::SubjectKind;
use platform_core::sales::auctions::after_change::AuctionAfterChange;
use platform_core::sales::auctions::requested_status::RequestedStatus;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::status;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::{Post, QueryRequest};
use crate::models::{AuctionView, HistoryView, List};
use crate::pagination::ListQuery;
use crate::response;

/// The new status.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctionStatusIn {
    /// Status name, such as `LIVE`.
    status: String,
    /// Why, at most 500 characters; required to archive an auction that was never LIVE.
    reason: Option<String>,
    /// True to confirm that the auction is archived although sold items have no buyer yet. Default: false.
    #[serde(default)]
    buyers_open: bool,
}

/// Change an auction's status
///
/// By an administrator. The platform announces the change. An auction with more than 1,000 items changes as a bulk
/// change: items after the first 1,000 follow within seconds, and `following` of `GET /auctions/{uuid}` shows the
/// progress. A return to PREVIEW completes when the server is sure that no bid has arrived. A DRAFT or PREVIEW auction
/// that was never LIVE can be archived as a mistake, with a `reason`: its items become WITHDRAWN. An auction whose sold
/// items have no buyer yet is archived only with `buyersOpen`, and refused with `buyers_open` otherwise. Requires `If-Match` (412
/// `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`. Errors: 409 `illegal_transition` with
/// the possible statuses in `legalNextStatuses`, `fields_missing`, `end_not_in_future`, `no_live_item`,
/// `auction_has_bids`, `items_not_finished`, `ring_occupied`, `auction_was_live`, `buyers_open`, `items_following`; 422
/// `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/status", tag = "auctions", request_body = AuctionStatusIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The auction after the change.", body = AuctionView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change_status(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AuctionStatusIn>,
) -> Result<Response, ApiError> {
    let AuctionStatusIn { status: to, reason, buyers_open } = &post.body;
    let (to, reason) = (status("/status", to)?, reason.clone());
    let to = RequestedStatus { to, reason, buyers_open: *buyers_open };
    let expected = post.required_version()?;
    let now = platform.now();
    let render = |changed: &AuctionAfterChange| {
        response::body(&AuctionView::whole(&changed.auction, &changed.items, changed.bulk_change.as_ref(), now))
    };
    let tag = |changed: &AuctionAfterChange| {
        Some(etag::auction_etag(&changed.auction, &changed.items, changed.bulk_change.as_ref(), now))
    };
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.change_auction_status(&post.caller, uuid, to, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// List an auction's history
///
/// Its status changes in order, with causes and actors. Scope `events:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/history", tag = "auctions",
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
    let rows = platform.history(&request.caller, (SubjectKind::Auction, uuid), page.with_lookahead()).await?;
    Ok(response::list(rows, page, |row| row.sequence, |row| HistoryView::from(row)))
}
