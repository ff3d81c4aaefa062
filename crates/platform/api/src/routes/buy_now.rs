//! Buying an item of a timed auction at its buy-now price.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::bidding::bids::PlacedBid;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::bids::placed;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::PlacedBidView;
use crate::response;

/// A buyer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BuyerIn {
    /// Paddle of the buyer, or a name of your own if the auction requires no registration; 1 to 64 characters.
    bidder: String,
}

/// Buy an item now
///
/// Sells an item of a timed auction at its `buyNow` price; the item becomes SOLD_BUY_NOW. The platform announces the
/// sale. Accepts `If-Match`: if the version has changed, the server does nothing (412 `precondition_failed`). Scope
/// `bids:write`. Errors: 409 `no_buy_now`, `buy_now_over`, `item_not_live`, `item_ended`, `auction_not_live`,
/// `auction_not_started`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`,
/// `too_many_bids`, `wrong_auction_kind`, `items_following`; 422 `field_invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/buy-now", tag = "bids", request_body = BuyerIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 201, description = "The bid that bought the item, and the item after it.", body = PlacedBidView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn buy(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<BuyerIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = placed(now);
    let tag = |placed: &PlacedBid| Some(etag::item_etag(&placed.item, &placed.auction, now));
    let idempotent = post.idempotent_tagged(201, &render, &tag);
    let outcome = platform.buy_now(&post.caller, uuid, &post.body.bidder, post.version, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}
