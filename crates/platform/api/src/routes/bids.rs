//! Bids of those who are not in the room, and what an administrator does about them.

use axum::extract::{Path, State};
use axum::response::Response;
use jiff::Timestamp;
use platform_core::bids::{NewBid, PlacedBid};
use platform_core::{Platform, PlatformError};
use platform_rules::Item;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::cacheable;
use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, Post, QueryRequest, instant};
use crate::models::{BidView, ItemView, List, PlacedBidView};
use crate::response;

/// A bid to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BidIn {
    /// Who bids: the paddle of a registration, or, where none is required, whatever you name bidders by; 1 to 64
    /// characters. All that others see of a bidder.
    bidder: String,
    /// How far the bidder goes, minor units; at least the item's `minimumBid`. The platform bids for them up to it, and
    /// shows it to nobody.
    amount: i64,
}

/// Places a bid on a LIVE item of a timed auction. Scope `bids:write`.
#[utoipa::path(post, path = "/items/{uuid}/bids", tag = "bids", params(("uuid" = Uuid, Path)), request_body = BidIn,
    responses((status = 201, body = PlacedBidView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<BidIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = placed(now);
    let new = NewBid { bidder: post.body.bidder.clone(), amount: post.body.amount };
    let tag = |placed: &PlacedBid| Some(cacheable::item_etag(&placed.item, &placed.auction, now));
    let outcome =
        platform.place_bid(&post.caller, uuid, &new, post.version, post.answering_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// What an absentee leaves.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AbsenteeBidIn {
    /// Who leaves it, as in a bid.
    bidder: String,
    /// How far the clerk may go, minor units; at least the item's `minimumBid`. Shown to the clerk, and to nobody else.
    maximum: i64,
}

/// Leaves a maximum on an item of a webcast before its live phase, for the clerk to bid with. A later one of the same
/// bidder takes its place. Others see nothing of it. Scope `bids:write`.
#[utoipa::path(post, path = "/items/{uuid}/absentee-bids", operation_id = "leave", tag = "bids", params(("uuid" = Uuid, Path)),
    request_body = AbsenteeBidIn,
    responses((status = 201, body = PlacedBidView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn place_absentee_bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AbsenteeBidIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = placed(now);
    let new = NewBid { bidder: post.body.bidder.clone(), amount: post.body.maximum };
    let tag = |placed: &PlacedBid| Some(cacheable::item_etag(&placed.item, &placed.auction, now));
    let outcome = platform
        .place_absentee_bid(&post.caller, uuid, &new, post.version, post.answering_tagged(201, &render, &tag))
        .await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// Who buys.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BuyerIn {
    /// As in a bid.
    bidder: String,
}

/// Buys an item of a timed auction at its `buyNow` price: it is SOLD_BUY_NOW. Scope `bids:write`.
#[utoipa::path(post, path = "/items/{uuid}/buy-now", tag = "bids", params(("uuid" = Uuid, Path)), request_body = BuyerIn,
    responses((status = 201, body = PlacedBidView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn buy(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<BuyerIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = placed(now);
    let tag = |placed: &PlacedBid| Some(cacheable::item_etag(&placed.item, &placed.auction, now));
    let answering = post.answering_tagged(201, &render, &tag);
    let outcome = platform.buy_now(&post.caller, uuid, &post.body.bidder, post.version, answering).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// Lists the bids on an item, the first one first; what absentees left is not among them. Scope `auctions:read`.
#[utoipa::path(get, path = "/items/{uuid}/bids", tag = "bids", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<BidView>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let (item, bids) = platform.bids(&request.caller, uuid, page.with_lookahead()).await?;
    let number = |bid: &platform_core::bid::Bid| item.shown_number(bid.number).unwrap_or_default();
    Ok(response::list_filtered(bids, page, number, |bid| BidView::for_others(&item, bid)))
}

/// Why a bid is cancelled.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CancelIn {
    /// In a person's words; 1 to 500 characters.
    reason: String,
}

/// Cancels a bid on an item that is LIVE or SUSPENDED, as an administrator: the price becomes what it would be without the
/// bid. `If-Match` is heeded when it is sent. Scope `auctions:write`.
#[utoipa::path(post, path = "/items/{uuid}/bids/{bid}/cancel", tag = "bids",
    params(("uuid" = Uuid, Path), ("bid" = Uuid, Path), ("If-Match" = Option<String>, Header)), request_body = CancelIn,
    responses((status = 200, body = ItemView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn cancel(
    State(platform): State<Platform>,
    Path((uuid, bid)): Path<(Uuid, Uuid)>,
    post: Post<CancelIn>,
) -> Result<Response, ApiError> {
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(cacheable::item_etag(item, &auction, now));
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.cancel_bid(&post.caller, (uuid, bid), &post.body.reason, post.version, answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// A later end, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndIn {
    /// Later than the item's `effectiveEndTime`, and than now.
    #[schema(format = DateTime)]
    end_time: String,
    /// In a person's words; 1 to 500 characters.
    reason: String,
}

/// Puts the end of an item of a timed auction off, as an administrator. An end moves forward only. `If-Match` is heeded
/// when it is sent. Scope `auctions:write`.
#[utoipa::path(post, path = "/items/{uuid}/end", tag = "bids",
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)), request_body = EndIn,
    responses((status = 200, body = ItemView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn move_end(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<EndIn>,
) -> Result<Response, ApiError> {
    let to = instant("/endTime", Some(&post.body.end_time))?;
    let to = to.ok_or_else(|| PlatformError::invalid("/endTime", "is missing"))?;
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(cacheable::item_etag(item, &auction, now));
    let answering = post.answering_tagged(200, &render, &tag);
    let step = (to, post.body.reason.clone());
    let outcome = platform.move_end(&post.caller, uuid, step, post.version, answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// How a bid that was taken is told.
fn placed(now: Timestamp) -> impl Fn(&PlacedBid) -> String + Copy + Send + Sync {
    move |placed| {
        let item = ItemView::new(&placed.item, &placed.auction, now);
        response::body(&PlacedBidView { bid: BidView::new(&placed.item, &placed.bid), item })
    }
}
