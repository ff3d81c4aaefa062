//! After the hammer: the buyer and the hammer price of a sold item, lots that a buyer does not pay, and offers that are
//! accepted for items that did not sell.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::sales::items::buyer::NamedBuyer;
use platform_core::sales::items::hammer_price::HammerPrice;
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_core::sales::items::unpaid::{UnpaidLots, UnpaidLotsRecorded};
use platform_rules::Item;
use platform_rules::item::ConfirmedBuyer;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::Post;
use crate::models::{ItemView, UnpaidView};
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
/// In a webcast, and for an item that was sold to an offer: fills in a buyer that was left open when the hammer fell, or
/// changes the buyer with a reason, until the auction is archived. The price and the status stay, so nothing is announced. A buyer who is not registered, also where registration is open, or not
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

/// The right hammer price of a sold item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HammerPriceIn {
    /// Hammer price, in minor units.
    #[schema(minimum = 1)]
    amount: i64,
    /// Why; 1 to 500 characters.
    reason: String,
    /// True to confirm an amount that is far from the price before. Default: false.
    #[serde(default)]
    unusual_amount: bool,
}

/// Correct the hammer price of a sold item
///
/// In a webcast, and for an item that was sold to an offer, until the auction is archived. The buyer and the status
/// stay, so nothing is announced; the log has the correction. The bid keeps its amount. A price above five times the price
/// before, or below a fifth of it, is refused with `unusual_amount` until the caller confirms it with `unusualAmount`. Requires `If-Match` (412
/// `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`, or `ring:write` for clerks of the
/// webcast (403 `clerk_not_assigned`). Errors: 409 `item_not_sold`, `wrong_auction_kind`, `auction_closed`,
/// `bid_too_high`, `unusual_amount`; 422 `reason_required`, `field_invalid`.
#[utoipa::path(
    post, path = "/items/{uuid}/hammer-price", tag = "results", request_body = HammerPriceIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The item with its hammer price.", body = ItemView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn correct_hammer_price(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<HammerPriceIn>,
) -> Result<Response, ApiError> {
    let expected = post.required_version()?;
    let (_, auction) = platform.item(&post.caller, uuid).await?;
    let now = platform.now();
    let render = |item: &Item| response::body(&ItemView::new(item, &auction, now));
    let tag = |item: &Item| Some(etag::item_etag(item, &auction, now));
    let idempotent = post.idempotent_tagged(200, &render, &tag);
    let HammerPriceIn { amount, reason, unusual_amount } = &post.body;
    let price = HammerPrice { amount: *amount, reason: reason.clone(), unusual_amount: *unusual_amount };
    let outcome = platform.correct_hammer_price(&post.caller, uuid, &price, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Lots that a buyer does not pay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UnpaidIn {
    /// Paddle of the buyer.
    buyer: String,
    /// UUIDs of the items, at most 1,000. Default: the first 1,000 items in running order that are sold to the buyer.
    items: Option<Vec<Uuid>>,
    /// Why; 1 to 500 characters.
    reason: String,
}

impl UnpaidIn {
    fn read(self) -> Result<UnpaidLots, ApiError> {
        Ok(UnpaidLots { buyer: self.buyer, items: self.items, reason: self.reason })
    }
}

/// Record lots that a buyer does not pay
///
/// SOLD and SOLD_BUY_NOW items of one buyer become UNSOLD with one reason, until the auction is archived: all of them or
/// none. The platform announces each item. Accepts `If-Match` with the auction's version (412 `precondition_failed`).
/// Scope `auctions:write`. Errors: 409 `not_sold_to_buyer`, `nothing_sold_to_buyer`, `auction_closed`,
/// `items_following`; 422 `reason_required`.
#[utoipa::path(
    post, path = "/auctions/{uuid}/unpaid", tag = "results", request_body = UnpaidIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The items, which are UNSOLD now.", body = UnpaidView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn record_unpaid(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<UnpaidIn>,
) -> Result<Response, ApiError> {
    let (post, unpaid) = post.map(UnpaidIn::read)?;
    let now = platform.now();
    let render = |recorded: &UnpaidLotsRecorded| response::body(&UnpaidView::new(recorded, now));
    let idempotent = post.idempotent(200, &render);
    let outcome = platform.record_unpaid_lots(&post.caller, uuid, &unpaid, post.version, idempotent).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
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
    /// True to confirm an amount that is far from the item's known amounts. Default: false.
    #[serde(default)]
    unusual_amount: bool,
}

/// Accept an offer for an item that did not sell
///
/// For a PASSED item while the auction is LIVE, and for an UNSOLD item, until the auction is archived: the item is SOLD to
/// the offer, which may lie below the reserve and below earlier bids. The platform announces the sale. An amount above five
/// times the estimates and bids, or below a fifth of them, is refused with `unusual_amount` until the caller confirms it
/// with `unusualAmount`. Requires `If-Match` (412 `precondition_failed`, 428
/// `precondition_required`). Scope `auctions:write`. Errors: 409 `illegal_transition`, `buyer_not_registered`,
/// `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`, `already_relisted`,
/// `unusual_amount`, `auction_closed`; 422 `reason_required`, `field_invalid`.
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
    let OfferIn { buyer, amount, reason, unusual_amount } = &post.body;
    let (buyer, reason, unusual_amount) = (buyer.clone(), reason.clone(), *unusual_amount);
    let offer = PostSaleOffer { buyer, amount: *amount, reason, unusual_amount };
    let outcome = platform.accept_offer(&post.caller, uuid, &offer, Some(expected), idempotent).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}
