//! The asking price, and bids that the clerk enters or accepts.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::{ClerkCommand, ConfirmedPrice};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::command;
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::RingView;

/// An asking price.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AskingPriceIn {
    /// Asking price, in minor units; at least 1.
    #[schema(minimum = 1)]
    amount: i64,
    /// True to confirm a price above the desk's `unconfirmedPriceMax` or below its `unconfirmedPriceMin`. Default: false.
    #[serde(default)]
    large_jump: bool,
    /// True to confirm that the bids at this price and above do not count any more. Default: false.
    #[serde(default)]
    below_standing_bid: bool,
}

/// Set the asking price
///
/// Bids at the new asking price or above are struck, which is refused with `cancels_bids` until the clerk confirms it with
/// `belowStandingBid`. `undo` restores all of them, and a higher asking price those below it, until the next bid is
/// accepted. A price above the desk's `unconfirmedPriceMax`, or below its `unconfirmedPriceMin`, is refused with `large_jump`
/// until the clerk confirms it with `largeJump`; one that cancels bids needs only `belowStandingBid`. Internet bids that wait
/// stay if they bid at least the new price. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the
/// `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409 `not_in_ring`, `large_jump`,
/// `cancels_bids`; 422 `field_invalid`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/asking-price", tag = "ring", request_body = AskingPriceIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn asking_price(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AskingPriceIn>,
) -> Result<Response, ApiError> {
    let AskingPriceIn { amount, large_jump, below_standing_bid } = post.body;
    let confirmed = ConfirmedPrice { large_jump, below_standing_bid };
    command(&platform, uuid, &post, &ClerkCommand::SetAskingPrice { amount, confirmed }).await
}

/// The source of a bid.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SourceIn {
    /// A bid from the room.
    Room,
    /// An internet bid that the clerk received by another way.
    Internet,
}

/// A bid on the item in the ring.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RingBidIn {
    /// The source of the bid.
    source: SourceIn,
    /// Paddle of the bidder; 1 to 64 characters. A bid from the room can be without one: if it wins, the buyer is open
    /// until `POST /items/{uuid}/buyer` names them.
    bidder: Option<String>,
    /// Amount, in minor units; at least the asking price, which is the default.
    amount: Option<i64>,
    /// True to confirm an amount above the desk's `unconfirmedPriceMax`. Default: false.
    #[serde(default)]
    large_jump: bool,
}

/// Enter a bid
///
/// A bid from the room, or an internet bid that the clerk received by another way, on the item in the ring. An amount
/// above the desk's `unconfirmedPriceMax` is refused with `large_jump` until the clerk confirms it with `largeJump`. For
/// clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the
/// ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409 `not_in_ring`, `ring_paused`,
/// `bid_too_low`, `bid_too_high`, `large_jump`, `already_leading`, `bidder_not_approved`, `bidder_suspended`,
/// `vendor_barred`, `spending_limit_reached`, `too_many_bids`; 422 `field_invalid`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/bid", tag = "ring", request_body = RingBidIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RingBidIn>,
) -> Result<Response, ApiError> {
    let (bidder, amount, large_jump) = (post.body.bidder.clone(), post.body.amount, post.body.large_jump);
    let bid = match (post.body.source, bidder) {
        (SourceIn::Room, Some(bidder)) => ClerkCommand::RoomBid { bidder, amount, large_jump },
        (SourceIn::Room, None) => ClerkCommand::OpenRoomBid { amount, large_jump },
        (SourceIn::Internet, Some(bidder)) => ClerkCommand::RelayedBid { bidder, amount, large_jump },
        (SourceIn::Internet, None) => {
            return Err(ApiError::invalid("/bidder", "is missing: only a bid from the room can be without a paddle"));
        }
    };
    command(&platform, uuid, &post, &bid).await
}

/// The internet bid to accept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptIn {
    /// UUID of a waiting bid.
    bid: Uuid,
}

/// Accept an internet bid
///
/// That waits on the item in the ring. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`.
/// Requires `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors:
/// 409 `not_pending`, `not_in_ring`, `ring_paused`, `bid_too_low`, `already_leading`, `bidder_not_approved`,
/// `bidder_suspended`, `vendor_barred`, `spending_limit_reached`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/accept", tag = "ring", request_body = AcceptIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn accept(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AcceptIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Accept { bid: post.body.bid }).await
}

/// A bid for an absentee bidder.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CommissionBidIn {
    /// Paddle of the absentee bidder. Default: the absentee with the highest maximum who does not lead.
    bidder: Option<String>,
}

/// Bid for an absentee bidder
///
/// The server chooses the amount: the smaller of the bidder's maximum, and the largest of the asking price, a step above
/// the highest maximum of another absentee, and the reserve if the maximum reaches it. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`.
/// Requires `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors:
/// 409 `no_commission`, `commission_exceeded` (the standing bid has reached the maximum), `already_leading`, `not_in_ring`, `ring_paused`, `bid_too_low`,
/// `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/commission-bid", tag = "ring", request_body = CommissionBidIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn commission_bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<CommissionBidIn>,
) -> Result<Response, ApiError> {
    let bidder = post.body.bidder.clone();
    command(&platform, uuid, &post, &ClerkCommand::CommissionBid { bidder }).await
}
