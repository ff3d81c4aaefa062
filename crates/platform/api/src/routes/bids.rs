//! Bids on items of timed auctions: placing, listing and cancelling them.

use axum::extract::{Path, State};
use axum::response::Response;
use jiff::Timestamp;
use platform_core::Platform;
use platform_core::bidding::bids::{NewBid, PlacedBid};
use platform_rules::Item;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::{Post, QueryRequest};
use crate::models::{BidView, ItemView, List, PlacedBidView};
use crate::pagination::ListQuery;
use crate::response;

/// A bid.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BidIn {
    /// Paddle of the bidder, or a name of your own if the auction requires no registration; 1 to 64 characters. Other
    /// bidders see only this.
    bidder: String,
    /// Maximum of the bidder, in minor units; at least the item's `minimumBid`. The platform bids for them up to it,
    /// and shows it to no other caller.
    amount: i64,
}

/// Place a bid
///
/// On a LIVE item of a timed auction. `amount` is the bidder's maximum: the platform bids for them up to it. Accepts
/// `If-Match`: if the version has changed, the server does nothing (412 `precondition_failed`). Scope `bids:write`.
/// Errors: 422 `field_invalid`; 409 `bid_too_low`, `bid_too_high`, `price_at_maximum`, `item_not_live`,
/// `auction_not_live`, `auction_not_started`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`,
/// `spending_limit_reached`, `too_many_bids`, `item_ended`, `maximum_not_raised`; `wrong_auction_kind`;
/// `items_following`.
#[utoipa::path(
    post, path = "/items/{uuid}/bids", tag = "bids", request_body = BidIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 201, description = "The accepted bid, and the item after it.", body = PlacedBidView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<BidIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = placed(now);
    let new = NewBid { bidder: post.body.bidder.clone(), amount: post.body.amount };
    let tag = |placed: &PlacedBid| Some(etag::item_etag(&placed.item, &placed.auction, now));
    let outcome =
        platform.place_bid(&post.caller, uuid, &new, post.version, post.idempotent_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// List the bids on an item
///
/// The first bid first, without absentee bids. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/items/{uuid}/bids", tag = "bids",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (status = 200, description = "A page of bids, the first one first.", body = List<BidView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let (item, bids) = platform.bids(&request.caller, uuid, page.with_lookahead()).await?;
    let number = |bid: &platform_core::bidding::bid::Bid| item.shown_through(bid.number);
    Ok(response::list_filtered(bids, page, number, |bid| BidView::for_others(&item, bid)))
}

/// The reason of a cancellation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CancelIn {
    /// Text for people; 1 to 500 characters.
    reason: String,
}

/// Cancel a bid
///
/// By an administrator, on an item that is LIVE or SUSPENDED. The price becomes what it would be without the bid.
/// Accepts `If-Match`: if the version has changed, the server does nothing (412 `precondition_failed`). Scope
/// `auctions:write`. Errors: 409 `bid_not_found`, `bid_struck`, `item_not_live`, `item_in_ring`, `auction_closed`,
/// `items_following`; 422 `reason_required`.
#[utoipa::path(
    post, path = "/items/{uuid}/bids/{bid}/cancel", tag = "bids", request_body = CancelIn,
    params(("uuid" = Uuid, Path), ("bid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The item without the bid.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn cancel(
    State(platform): State<Platform>,
    Path((uuid, bid)): Path<(Uuid, Uuid)>,
    post: Post<CancelIn>,
) -> Result<Response, ApiError> {
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(etag::item_etag(item, &auction, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let outcome = platform.cancel_bid(&post.caller, (uuid, bid), &post.body.reason, post.version, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Renders an accepted bid with its item.
pub(super) fn placed(now: Timestamp) -> impl Fn(&PlacedBid) -> String + Copy + Send + Sync {
    move |placed| {
        let item = ItemView::new(&placed.item, &placed.auction, now);
        response::body(&PlacedBidView { bid: BidView::new(&placed.item, &placed.bid), item })
    }
}
