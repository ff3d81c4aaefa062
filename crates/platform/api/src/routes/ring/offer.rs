//! Begin the live phase, send an item into the ring, remove it undecided, offer a passed item again.

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

/// Begin the live phase of a webcast
///
/// The first `ring/send` begins the live phase too. For clerks of the
/// webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the ring (412
/// `precondition_failed`, 428 `precondition_required`). Errors: 409 `pre_bidding_over`, `auction_not_live`,
/// `auction_not_started`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/begin", tag = "ring", request_body = NothingIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
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
    /// UUID of the item. Default: the item that is next.
    item: Option<Uuid>,
}

/// Send an item into the ring
///
/// The ring must be empty. Without `item`, the item that is next: the first waiting item after the place. Only sending
/// the item that is next moves the place, so that none is skipped. Items that were removed or offered again come after the
/// last one. A passed item is offered again by this command. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires
/// `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 404
/// `not_found` if no item waits; 409 `ring_occupied`, `item_not_live`, `item_not_in_auction`, `auction_not_live`,
/// `auction_not_started`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/send", tag = "ring", request_body = SendIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn send(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<SendIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Send { item: post.body.item }).await
}

/// Remove the item from the ring
///
/// Without a decision. The item keeps its bids and waits; it comes after the last item. For clerks of the webcast (403 `clerk_not_assigned`); scope
/// `ring:write`. Requires `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428
/// `precondition_required`). Errors: 409 `not_in_ring`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/remove", tag = "ring", request_body = NothingIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
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
    /// UUID of the passed item.
    item: Uuid,
}

/// Offer a passed item again
///
/// The item becomes LIVE and waits to be sent. The platform announces the change. For clerks of the webcast (403
/// `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the ring (412
/// `precondition_failed`, 428 `precondition_required`). Errors: 409 `item_not_passed`, `item_not_in_auction`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/offer-again", tag = "ring", request_body = OfferAgainIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn offer_again(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<OfferAgainIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::OfferAgain { item: post.body.item }).await
}
