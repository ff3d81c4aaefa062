//! The hammer: warned of, held up, and fallen.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::ClerkCommand;
use uuid::Uuid;

use super::{NothingIn, command};
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::RingView;

/// Says that the hammer is about to fall; the warnings are counted until the next bid or price. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/fair-warning", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn fair_warning(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::FairWarning).await
}

/// Pauses bidding on the item in the ring. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/pause", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn pause(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Pause).await
}

/// Lets bidding go on. Needs `If-Match`. Scope `ring:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/ring/resume", tag = "ring",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = NothingIn,
    responses((status = 200, body = RingView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn resume(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Resume).await
}

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
    command(&platform, uuid, &post, &ClerkCommand::Sell).await
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
    command(&platform, uuid, &post, &ClerkCommand::Pass).await
}
