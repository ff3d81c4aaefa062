//! The ring of a webcast: the clerk's commands. Each carries the `ETag` that the clerk saw, so that of two clerks one gets
//! a conflict and never two sales. The tag names the auction's and the item's version: `"<auction>.<item>"`, item 0 for an
//! empty ring.

use auction::{Auction, Item};
use axum::extract::{Path, State};
use axum::response::Response;
use platform::ring::{ClerkCommand, RingState};
use platform::{Caller, Platform};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer;
use crate::ask::{Asked, Post, RingTag};
use crate::errors::{ApiError, Problem};
use crate::models::{ItemView, RingView};

/// Gives the ring of a webcast. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/ring", tag = "ring", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = RingView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    asked: Asked<()>,
) -> Result<Response, ApiError> {
    let (auction, item) = in_ring(&platform, &asked.caller, uuid).await?;
    let tag = RingTag::of(&auction, item.as_ref());
    let item = item.map(|item| ItemView::new(&item, &auction, platform.now()));
    Ok(answer::tagged(&RingView { auction: uuid, item, last: None }, tag))
}

/// The item to send.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SendIn {
    /// The item; without one the next LIVE item that waits, in running order.
    item: Option<Uuid>,
}

/// Sends an item into the empty ring; one that was passed is offered again by it. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/send", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = SendIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn send(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<SendIn>,
) -> Result<Response, ApiError> {
    let item = match post.body.item {
        Some(item) => item,
        None => platform.next_for_ring(&post.caller, uuid).await?.uuid,
    };
    command(&platform, uuid, &post, Some(item), &ClerkCommand::Send).await
}

/// Where a bid comes from.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SourceIn {
    /// Taken in the room.
    Room,
    /// Came over the internet, and the clerk accepts it.
    Internet,
}

/// A bid on the item in the ring.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RingBidIn {
    source: SourceIn,
    /// Who bids, such as a paddle number; 1 to 64 characters.
    bidder: String,
    /// Minor units; at least the item's `minimumBid`.
    amount: i64,
}

/// Takes a bid on the item in the ring. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/bid", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = RingBidIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RingBidIn>,
) -> Result<Response, ApiError> {
    let (bidder, amount) = (post.body.bidder.clone(), post.body.amount);
    let bid = match post.body.source {
        SourceIn::Room => ClerkCommand::RoomBid { bidder, amount },
        SourceIn::Internet => ClerkCommand::InternetBid { bidder, amount },
    };
    command(&platform, uuid, &post, None, &bid).await
}

/// A command without further words.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NothingIn {}

/// The hammer falls: sells the item in the ring to its standing bid. Announced. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/sell", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn sell(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, None, &ClerkCommand::Sell).await
}

/// Passes the item in the ring: it is not sold. Announced. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/pass", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn pass(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, None, &ClerkCommand::Pass).await
}

/// The item to offer again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfferAgainIn {
    item: Uuid,
}

/// Makes a passed item LIVE again; it waits to be sent. Announced. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/offer-again", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = OfferAgainIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn offer_again(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<OfferAgainIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, Some(post.body.item), &ClerkCommand::OfferAgain).await
}

async fn in_ring(platform: &Platform, caller: &Caller, uuid: Uuid) -> Result<(Auction, Option<Item>), ApiError> {
    let auction = platform.auction(caller, uuid).await?;
    let item = match auction.in_ring {
        Some(item) => Some(platform.item(caller, item).await?.0),
        None => None,
    };
    Ok((auction, item))
}

/// Carries out a command about `named`, or about the item in the ring.
async fn command<B>(
    platform: &Platform,
    uuid: Uuid,
    post: &Post<B>,
    named: Option<Uuid>,
    command: &ClerkCommand,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = |state: &RingState| answer::body(&ring_view(state, now));
    let answering = post.answering(200, &render);
    if let Some(replayed) = platform.replay(answering.as_ref()).await? {
        return Ok(answer::replayed(replayed));
    }
    let seen = post.required_ring_tag()?;
    let (auction, item) = in_ring(platform, &post.caller, uuid).await?;
    if RingTag::of(&auction, item.as_ref()) != seen {
        return Err(ApiError::ring_moved());
    }
    let target = named.or(auction.in_ring).ok_or_else(ApiError::ring_empty)?;
    // The item in the ring was compared just now; the commit compares it again with the version that was seen.
    let expected = item.filter(|item| item.uuid == target).map(|item| item.version);
    let outcome = platform.clerk(&post.caller, target, command, expected, answering).await?;
    Ok(answer::outcome_tagged(outcome, 200, render, |state| {
        RingTag::of(&state.auction, (state.auction.in_ring == Some(state.item.uuid)).then_some(&state.item))
    }))
}

fn ring_view(state: &RingState, now: jiff::Timestamp) -> RingView {
    let item = ItemView::new(&state.item, &state.auction, now);
    let is_in_ring = state.auction.in_ring == Some(state.item.uuid);
    let (item, last) = if is_in_ring { (Some(item), None) } else { (None, Some(item)) };
    RingView { auction: state.auction.uuid, item, last }
}
