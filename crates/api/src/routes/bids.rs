//! Bids on items of timed auctions.

use axum::extract::{Path, State};
use axum::response::Response;
use platform::Platform;
use platform::bids::{NewBid, PlacedBid};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer;
use crate::ask::{Asked, ListQuery, Post};
use crate::errors::{ApiError, Problem};
use crate::models::{BidView, ItemView, List, PlacedBidView};

/// A bid to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BidIn {
    /// Who bids, as you name bidders; 1 to 64 characters.
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
    let render = |placed: &PlacedBid| {
        let item = ItemView::new(&placed.item, &placed.auction, now);
        answer::body(&PlacedBidView { bid: BidView::from(&placed.bid), item })
    };
    let new = NewBid { bidder: post.body.bidder.clone(), amount: post.body.amount };
    let outcome = platform.place_bid(&post.caller, uuid, &new, post.version, post.answering(201, &render)).await?;
    Ok(answer::outcome(outcome, 201, render, |placed| Some(placed.item.version)))
}

/// Lists the bids on an item, the first one first. Scope `auctions:read`.
#[utoipa::path(get, path = "/items/{uuid}/bids", tag = "bids", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<BidView>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    asked: Asked<ListQuery>,
) -> Result<Response, ApiError> {
    let page = asked.query.page::<i64>()?;
    let bids = platform.bids(&asked.caller, uuid, page.more()).await?;
    Ok(answer::list(bids, page, |bid| bid.number, |row| BidView::from(row)))
}
