//! Undo a bid, retract a bid for its bidder, reopen the last lot.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::ClerkCommand;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{ReasonIn, command};
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::RingView;

/// Undo the last bid
///
/// The bid before it stands again, at the asking price of that moment. For clerks of the webcast (403
/// `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the ring (412
/// `precondition_failed`, 428 `precondition_required`). Errors: 409 `nothing_to_undo`, `not_in_ring`; 422
/// `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/undo", tag = "ring", request_body = ReasonIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn undo(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ReasonIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Undo { reason: post.body.reason.clone() }).await
}

/// The bid to retract, with the reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetractIn {
    /// UUID of a bid on the item in the ring.
    bid: Uuid,
    /// Text for people, 1 to 500 characters; it is kept in the item's log.
    reason: String,
}

/// Retract a bid
///
/// Records that a bidder withdraws a bid on the item in the ring. No earlier bid is restored. For clerks of the
/// webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the ring (412
/// `precondition_failed`, 428 `precondition_required`). Errors: 409 `bid_not_found`, `bid_struck`, `not_in_ring`; 422
/// `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/retract", tag = "ring", request_body = RetractIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn retract(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RetractIn>,
) -> Result<Response, ApiError> {
    let (bid, reason) = (post.body.bid, post.body.reason.clone());
    command(&platform, uuid, &post, &ClerkCommand::Retract { bid, reason }).await
}

/// Reopen the last lot
///
/// Brings the item that was sold or passed last back into the empty ring, with its standing bid. The platform
/// announces the change. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires
/// `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409
/// `not_last_item`, `ring_occupied`; 422 `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/reopen", tag = "ring", request_body = ReasonIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn reopen(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ReasonIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Reopen { reason: post.body.reason.clone() }).await
}
