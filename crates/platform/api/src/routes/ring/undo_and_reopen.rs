//! What is taken back: a bid by the clerk, a bid by its bidder, a hammer.

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

/// Takes the last bid back: what stood before stands again, at the price that was asked then. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/undo", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = ReasonIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn undo(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ReasonIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Undo { reason: post.body.reason.clone() }).await
}

/// The bid that is retracted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetractIn {
    /// UUID of a bid on the item in the ring.
    bid: Uuid,
    /// In a person's words, 1 to 500 characters; it is kept in the log.
    reason: String,
}

/// Enters that a bidder takes a bid back. No earlier bid comes back by it. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/retract", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = RetractIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn retract(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RetractIn>,
) -> Result<Response, ApiError> {
    let (bid, reason) = (post.body.bid, post.body.reason.clone());
    command(&platform, uuid, &post, &ClerkCommand::Retract { bid, reason }).await
}

/// Brings the item that was sold or passed last back into the empty ring, with the bid that stood. Announced. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/reopen", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = ReasonIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn reopen(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<ReasonIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Reopen { reason: post.body.reason.clone() }).await
}
