//! Absentee bids: maxima that bidders leave for the clerk until an item comes into the ring.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::bidding::absentee_bids::{NewAbsenteeBid, WithdrawnBid};
use platform_core::bidding::bids::PlacedBid;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::bids::placed;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::{ItemView, PlacedBidView};
use crate::response;

/// An absentee bid.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AbsenteeBidIn {
    /// Paddle of the bidder, or a name of your own if the auction requires no registration; 1 to 64 characters.
    bidder: String,
    /// Maximum, in minor units; at least the item's `minimumBid`. Only the clerk sees it.
    maximum: i64,
    /// True to confirm an amount that is far from the item's known amounts. Default: false.
    #[serde(default)]
    unusual_amount: bool,
}

/// Leave an absentee bid
///
/// A maximum on an item of a webcast, with which the clerk bids when the item is in the ring. It replaces an earlier
/// absentee bid of the same bidder; a bid that lowers the maximum keeps its time. It can be left, changed and withdrawn
/// while the item is LIVE and not in the ring, before the sale and during it. Only the clerk sees it. A maximum above five
/// times the estimates and bids, or below a fifth of them, is refused with `unusual_amount` until the caller confirms it
/// with `unusualAmount`. Accepts `If-Match`: if the version has changed, the
/// server does nothing (412 `precondition_failed`). Scope `bids:write`, or `ring:write` for the clerks of the webcast (403 `clerk_not_assigned`). Errors: 422 `field_invalid`; 409
/// `bid_too_low`, `bid_too_high`, `price_at_maximum`, `item_not_live`, `auction_not_live`, `auction_not_started`,
/// `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`, `too_many_bids`,
/// `item_in_ring`, `unusual_amount`, `wrong_auction_kind`.
#[utoipa::path(
    post, path = "/items/{uuid}/absentee-bids", operation_id = "leave", tag = "bids", request_body = AbsenteeBidIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 201, description = "The absentee bid, and the item.", body = PlacedBidView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn place_absentee_bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AbsenteeBidIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = placed(now);
    let AbsenteeBidIn { bidder, maximum, unusual_amount } = &post.body;
    let new = NewAbsenteeBid { bidder: bidder.clone(), maximum: *maximum, unusual_amount: *unusual_amount };
    let tag = |placed: &PlacedBid| Some(etag::item_etag(&placed.item, &placed.auction, now));
    let outcome = platform
        .place_absentee_bid(&post.caller, uuid, &new, post.version, post.idempotent_tagged(201, &render, &tag))
        .await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// The maximum to withdraw.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WithdrawalIn {
    /// Paddle of the bidder.
    bidder: String,
    /// Text for people, 1 to 500 characters; it is kept in the item's log.
    reason: Option<String>,
}

/// Withdraw an absentee bid
///
/// Of this bidder, while the item is LIVE and not in the ring. An earlier maximum of the bidder does not count again.
/// Accepts `If-Match`: if the version has changed, the server does nothing (412 `precondition_failed`). Scope
/// `bids:write`, or `ring:write` for the clerks of the webcast (403 `clerk_not_assigned`). Errors: 409 `no_commission` (the bidder left no absentee bid), `item_in_ring`, `item_not_live`,
/// `auction_not_live`, `wrong_auction_kind`; 422 `field_invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/absentee-bids/withdraw", operation_id = "withdraw_absentee_bid", tag = "bids",
    request_body = WithdrawalIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The item without the absentee bid.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn withdraw(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<WithdrawalIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = |done: &WithdrawnBid| response::body(&ItemView::new(&done.item, &done.auction, now));
    let tag = |done: &WithdrawnBid| Some(etag::item_etag(&done.item, &done.auction, now));
    let withdrawal = (&*post.body.bidder, post.body.reason.clone());
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.withdraw_absentee_bid(&post.caller, uuid, withdrawal, post.version, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
