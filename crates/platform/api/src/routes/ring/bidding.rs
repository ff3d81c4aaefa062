//! The price that is asked for, and bids that the clerk takes.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::ClerkCommand;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::command;
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::RingView;

/// A price.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskingPriceIn {
    /// Minor units; at least 1.
    #[schema(minimum = 1)]
    amount: i64,
}

/// Sets the asking price. Bids that stand at it or above are struck, and a higher price brings them back until another bid is
/// taken. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/asking-price", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = AskingPriceIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn asking_price(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AskingPriceIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::SetAskingPrice { amount: post.body.amount }).await
}

/// Where a bid comes from.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SourceIn {
    /// Taken in the room.
    Room,
    /// Came over the internet by another way, and the clerk takes it.
    Internet,
}

/// A bid on the item in the ring.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RingBidIn {
    source: SourceIn,
    /// Who bids, such as a paddle number; 1 to 64 characters.
    bidder: String,
    /// Minor units; at least the asking price, which it is without one.
    amount: Option<i64>,
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
        SourceIn::Internet => ClerkCommand::RelayedBid { bidder, amount },
    };
    command(&platform, uuid, &post, &bid).await
}

/// The internet bid to accept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptIn {
    /// UUID of a bid that waits.
    bid: Uuid,
}

/// Accepts an internet bid that waits. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/accept", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = AcceptIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn accept(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AcceptIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Accept { bid: post.body.bid }).await
}

/// A bid for an absentee.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CommissionBidIn {
    /// Who left the commission.
    bidder: String,
    /// Minor units; at least the asking price, which it is without one, and at most what was left.
    amount: Option<i64>,
}

/// Bids for an absentee, within what they left. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/commission-bid", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = CommissionBidIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn commission_bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<CommissionBidIn>,
) -> Result<Response, ApiError> {
    let (bidder, amount) = (post.body.bidder.clone(), post.body.amount);
    command(&platform, uuid, &post, &ClerkCommand::CommissionBid { bidder, amount }).await
}
