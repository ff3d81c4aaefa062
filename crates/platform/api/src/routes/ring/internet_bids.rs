//! Internet bids on the item in the ring.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::{InternetBidResult, NewInternetBid};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::{Post, QueryRequest};
use crate::models::InternetBidView;
use crate::response;

/// An internet bid on the item in the ring.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct InternetBidIn {
    /// Paddle of the bidder, or a name of your own if the auction requires no registration; 1 to 64 characters.
    bidder: String,
    /// Amount, in minor units; at least the asking price.
    amount: i64,
}

/// Place an internet bid
///
/// On the item in the ring of a webcast. The bid waits for the clerk and replaces an earlier waiting bid of the same
/// bidder. If the auction's `internetBids` is `accepted_at_once`, the server accepts it without the clerk. Accepts
/// `If-Match`: if the version has changed, the server does nothing (412 `precondition_failed`). Scope `bids:write`.
/// Errors: 409 `not_in_ring`, `ring_paused`, `bid_too_low`, `bid_too_high`, `already_leading`, `too_many_pending`
/// (more than 50 bids wait), `too_many_bids`, `auction_not_live`, `bidder_not_approved`, `bidder_suspended`,
/// `vendor_barred`, `spending_limit_reached`, `wrong_auction_kind`; 422 `field_invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/internet-bids", tag = "ring", request_body = InternetBidIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 201, description = "The bid, waiting or accepted, and the item.", body = InternetBidView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn internet_bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<InternetBidIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = |taken: &InternetBidResult| response::body(&InternetBidView::new(taken, now));
    let new = NewInternetBid { bidder: post.body.bidder.clone(), amount: post.body.amount };
    let tag = |taken: &InternetBidResult| Some(etag::item_etag(&taken.item, &taken.auction, now));
    let outcome = platform
        .bid_in_ring(&post.caller, uuid, &new, post.version, post.idempotent_tagged(201, &render, &tag))
        .await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// Get an internet bid
///
/// What became of it: it waits for the clerk, was accepted, or was lost, with the reason. An item keeps the latest 50
/// bids that were lost. Scope `bids:write`.
#[utoipa::path(
    get, path = "/items/{uuid}/internet-bids/{bid}", operation_id = "internet_bid_state", tag = "ring",
    params(("uuid" = Uuid, Path), ("bid" = Uuid, Path)),
    responses(
        (status = 200, description = "The bid, and the item.", body = InternetBidView),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn read(
    State(platform): State<Platform>,
    Path((uuid, bid)): Path<(Uuid, Uuid)>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let found = platform.internet_bid(&request.caller, uuid, bid).await?;
    Ok(response::ok(&InternetBidView::new(&found, now)))
}
