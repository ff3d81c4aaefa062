//! What goes into the ring, and out of it again undecided.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::ClerkCommand;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{NothingIn, command};
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::RingView;

/// Begins the live phase of a webcast: absentees leave no more bids. Sending the first item does so too. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/begin", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn begin(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Begin).await
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
    command(&platform, uuid, &post, &ClerkCommand::Send { item: post.body.item }).await
}

/// Takes the item out of the ring undecided; it waits with its bids. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/remove", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn remove(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Remove).await
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
    command(&platform, uuid, &post, &ClerkCommand::OfferAgain { item: post.body.item }).await
}
