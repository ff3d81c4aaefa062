//! Fair warning, pause, sell and pass.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::{ClerkCommand, Confirmed};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{NothingIn, command};
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::RingView;

/// Give fair warning
///
/// Announces that the hammer is about to fall. The ring counts the warnings since the last bid or asking price. For
/// clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the
/// ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409 `not_in_ring`, `ring_paused`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/fair-warning", tag = "ring", request_body = NothingIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn fair_warning(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::FairWarning).await
}

/// Pause bidding
///
/// On the item in the ring. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires
/// `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409
/// `not_in_ring`, `ring_paused`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/pause", tag = "ring", request_body = NothingIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn pause(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Pause).await
}

/// Resume bidding
///
/// On the item in the ring. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires
/// `If-Match` with the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409
/// `not_in_ring`, `not_paused`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/resume", tag = "ring", request_body = NothingIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn resume(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Resume).await
}

/// How the item is sold.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SellIn {
    /// True to confirm a price below the reserve. Default: false.
    #[serde(default)]
    below_reserve: bool,
    /// True to confirm that a higher internet or commission bid waits. Default: false.
    #[serde(default)]
    over_waiting_bid: bool,
}

/// Sell the item in the ring
///
/// To its standing bid. The platform announces the sale. While a higher internet or commission bid waits, the sale is
/// refused with `higher_bid_waits` until the clerk confirms it with `overWaitingBid`. A price below the reserve is
/// refused with `reserve_not_met` until the clerk confirms it with `belowReserve`. A sale can need both. For clerks of
/// the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with the `ETag` of the ring (412
/// `precondition_failed`, 428 `precondition_required`). Errors: 409 `no_standing_bid`, `higher_bid_waits`,
/// `reserve_not_met`, `not_in_ring`, `ring_paused`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/sell", tag = "ring", request_body = SellIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn sell(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<SellIn>,
) -> Result<Response, ApiError> {
    let SellIn { below_reserve, over_waiting_bid } = post.body;
    let confirmed = Confirmed { below_reserve, over_waiting_bid };
    command(&platform, uuid, &post, &ClerkCommand::Sell { confirmed }).await
}

/// How the item is passed.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PassIn {
    /// True to confirm that a higher internet or commission bid waits. Default: false.
    #[serde(default)]
    over_waiting_bid: bool,
}

/// Pass the item in the ring
///
/// The item is not sold. The platform announces the change. While an internet or commission bid waits that is higher
/// than the standing bid, the pass is refused with `higher_bid_waits` until the clerk confirms it with
/// `overWaitingBid`. For clerks of the webcast (403 `clerk_not_assigned`); scope `ring:write`. Requires `If-Match` with
/// the `ETag` of the ring (412 `precondition_failed`, 428 `precondition_required`). Errors: 409 `higher_bid_waits`,
/// `not_in_ring`, `ring_paused`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/ring/pass", tag = "ring", request_body = PassIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The ring and the clerk's desk after the command.", body = RingView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 428, body = Problem),
    ),
)]
pub(crate) async fn pass(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<PassIn>,
) -> Result<Response, ApiError> {
    command(&platform, uuid, &post, &ClerkCommand::Pass { over_waiting_bid: post.body.over_waiting_bid }).await
}
