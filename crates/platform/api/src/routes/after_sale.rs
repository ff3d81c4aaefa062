//! After the hammer: the buyer of a sold item, and offers that are accepted after the sale.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::sales::items::buyer::NamedBuyer;
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_rules::Item;
use platform_rules::item::ConfirmedBuyer;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::ItemView;
use crate::response;

/// The buyer of a sold item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SoldToIn {
    /// Paddle of the buyer; 1 to 64 characters.
    buyer: String,
    /// Why, at most 500 characters; required if another buyer was named before, and with `overLimit`.
    reason: Option<String>,
    /// True to confirm a buyer whose registration is not approved. A paddle without a registration is registered as
    /// approved, and named later. Default: false.
    #[serde(default)]
    not_approved: bool,
    /// True to confirm a price above the buyer's spending limit. Default: false.
    #[serde(default)]
    over_limit: bool,
}

/// Name the buyer of a sold item
///
/// In a webcast: fills in a buyer that was left open when the hammer fell, or changes the buyer with a reason, until
/// the auction is archived. The price and the status stay, so nothing is announced. A buyer who is not registered or not
/// approved is refused with `bidder_not_approved` until the caller confirms it with `notApproved`, and a price above the
/// buyer's limit with `spending_limit_reached` until the caller confirms it with `overLimit`. A suspended bidder, the
/// vendor and the auctioneer are always refused. Requires `If-Match` (412
/// `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`, or `ring:write` for clerks of the
/// webcast (403 `clerk_not_assigned`). Errors: 409 `item_not_sold`, `bidder_not_approved`, `bidder_suspended`,
/// `vendor_barred`, `spending_limit_reached`, `wrong_auction_kind`, `auction_closed`; 422 `reason_required`,
/// `field_invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/buyer", tag = "results", request_body = SoldToIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The item with its buyer.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change_buyer(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<SoldToIn>,
) -> Result<Response, ApiError> {
    let expected = post.required_version()?;
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(etag::item_etag(item, &auction, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let SoldToIn { buyer, reason, not_approved, over_limit } = &post.body;
    let confirmed = ConfirmedBuyer { not_approved: *not_approved, over_limit: *over_limit };
    let buyer = NamedBuyer { paddle: buyer.clone(), reason: reason.clone(), confirmed };
    let outcome = platform.change_buyer(&post.caller, uuid, &buyer, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// An offer that was accepted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfferIn {
    /// Paddle of the buyer, who is registered and approved.
    buyer: String,
    /// Hammer price, in minor units; it may lie below the reserve.
    #[schema(minimum = 1)]
    amount: i64,
    /// Why; 1 to 500 characters.
    reason: String,
}

/// Accept an offer after the sale
///
/// For an UNSOLD item, until the auction is archived: the item is SOLD to the offer, which may lie below the reserve
/// and below earlier bids. The platform announces the sale. Requires `If-Match` (412 `precondition_failed`, 428
/// `precondition_required`). Scope `auctions:write`. Errors: 409 `illegal_transition`, `buyer_not_registered`,
/// `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`, `already_relisted`,
/// `auction_closed`; 422 `reason_required`, `field_invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/offer", tag = "results", request_body = OfferIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The sold item.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn accept_offer(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<OfferIn>,
) -> Result<Response, ApiError> {
    let expected = post.required_version()?;
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(etag::item_etag(item, &auction, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let OfferIn { buyer, amount, reason } = &post.body;
    let offer = PostSaleOffer { buyer: buyer.clone(), amount: *amount, reason: reason.clone() };
    let outcome = platform.accept_offer(&post.caller, uuid, &offer, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
