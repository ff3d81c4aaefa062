//! What bidders do in a webcast by themselves.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::ring::{NewInternetBid, InternetBidResult};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::cacheable;
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::InternetBidView;
use crate::response;

/// A bid on the item in the ring.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct InternetBidIn {
    /// Who bids, as you name bidders; 1 to 64 characters.
    bidder: String,
    /// Minor units; at least the asking price.
    amount: i64,
}

/// Bids over the internet on the item in the ring of a webcast. It waits for the clerk, in the place of the bidder's earlier
/// one, or is accepted at once where the auction's `internetBids` says so. Scope `bids:write`.
#[utoipa::path(post, path = "/items/{uuid}/internet-bids", tag = "ring", params(("uuid" = Uuid, Path)),
    request_body = InternetBidIn,
    responses((status = 201, body = InternetBidView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn internet_bid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<InternetBidIn>,
) -> Result<Response, ApiError> {
    let now = platform.now();
    let render = |taken: &InternetBidResult| response::body(&InternetBidView::new(taken, now));
    let new = NewInternetBid { bidder: post.body.bidder.clone(), amount: post.body.amount };
    let tag = |taken: &InternetBidResult| Some(cacheable::item_etag(&taken.item, &taken.auction, now));
    let outcome =
        platform.bid_in_ring(&post.caller, uuid, &new, post.version, post.answering_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}
