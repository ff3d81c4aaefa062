//! Bids of a bidder, and how they stand on a lot.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::saleroom::{BidForm, SaleroomBid};
use serde::Deserialize;
use utoipa::ToSchema;

use super::errors::{ApiError, Problem};
use super::own_models::{BidResultView, OwnStandingView, StandingView};
use super::requests::{BodyOf, ForBidder, RequiredKey};
use super::sales::{current, ok};

/// What a bid is.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BidKind)]
pub(super) enum BidKindIn {
    /// The next bid, at the amount that the bidder saw: `minimumBid`, or the asking price of the lot in the ring.
    Next,
    /// The bidder's maximum: the platform bids up to it, and shows it to no one else. On a lot of a webcast that waits for the ring it is
    /// a commission bid.
    Maximum,
    /// Buys the lot at once, at the `buyNow` that the bidder saw.
    BuyNow,
}

/// A bid.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = BidIn)]
pub(super) struct BidIn {
    /// What the bid is.
    kind: BidKindIn,
    /// Minor units of the sale's currency, as the bidder confirmed them.
    #[schema(example = 52_000)]
    amount: i64,
}

/// Read how the bidder stands on a lot
#[utoipa::path(
    get, path = "/sales/{sale}/lots/{lot}/standing", tag = "bids",
    params(("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path)),
    responses(
        (status = 200, description = "How the bidder stands.", body = OwnStandingView), (status = 401, body = Problem),
        (status = 404, body = Problem),
    ),
)]
pub(super) async fn standing(ForBidder { at, bidder }: ForBidder<2>) -> Result<Response, ApiError> {
    let [auction, item] = at.ids;
    let platform = at.platform();
    // A lot that visitors don't see is not found.
    platform.saleroom_lot(at.saleroom(), (auction, item)).await?;
    let registration = platform.own_registration(&bidder, auction).await?;
    let own = platform.own_standing(&bidder, registration.as_ref(), item).await?;
    let watched = platform.watches_lot(&bidder, (auction, item)).await?;
    Ok(ok(&OwnStandingView { standing: own.as_ref().map(StandingView::of), watched }))
}

/// Place a bid
///
/// Needs an approved registration for the sale. A bid is placed only at the amount that the bidder saw. Send each with its own
/// `Idempotency-Key`, and again with the same key until it is answered: the server places it once. Errors: 409 `price_moved` (read the
/// lot again), `already_leading`, `link_lost`, `registration_required`, `bid_too_low`, `bid_too_high`, `maximum_not_raised`, `item_not_live`,
/// `item_ended`, `auction_not_live`, `auction_not_started`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`,
/// `spending_limit_reached`, `too_many_bids`, `item_in_ring`, `not_in_ring`, `ring_paused`, `no_buy_now`, `buy_now_over`, `busy`; 422
/// `idempotency_mismatch`.
#[utoipa::path(
    post, path = "/sales/{sale}/lots/{lot}/bids", tag = "bids", request_body = BidIn,
    params(
        ("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path), ("Idempotency-Key" = String, Header),
    ),
    responses(
        (status = 200, description = "What became of the bid.", body = BidResultView), (status = 400, body = Problem),
        (status = 401, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(super) async fn bid(
    ForBidder { at, bidder }: ForBidder<2>,
    RequiredKey(key): RequiredKey,
    BodyOf(bid): BodyOf<BidIn>,
) -> Result<Response, ApiError> {
    let [auction, item] = at.ids;
    let (platform, saleroom, lot) = (at.platform(), at.saleroom(), (auction, item));
    // A site shows the totals of the API, or its own.
    let form = BidForm { key: &key, rates: None };
    let placed = match bid.kind {
        BidKindIn::Next => SaleroomBid::Next(bid.amount),
        BidKindIn::Maximum => SaleroomBid::UpTo(bid.amount),
        BidKindIn::BuyNow => {
            platform.buy_now_in_saleroom(saleroom, &bidder, lot, bid.amount, form).await?;
            let registration = platform.own_registration(&bidder, auction).await?;
            let own = platform.own_standing(&bidder, registration.as_ref(), item).await?;
            let (standing, lot) = (own.as_ref().map(StandingView::of), current(&at, lot).await?);
            return Ok(ok(&BidResultView { standing, lot, repeated: false }));
        }
    };
    let placed = platform.bid_in_saleroom(saleroom, &bidder, lot, placed, form).await?;
    let standing = Some(StandingView::of(&placed.own));
    Ok(ok(&BidResultView { standing, lot: current(&at, lot).await?, repeated: placed.is_repeated }))
}

/// Withdraw the bidder's commission bid
///
/// While the lot waits for the ring. Errors: 409 `no_commission`, `item_in_ring`, `registration_required`.
#[utoipa::path(
    delete, path = "/sales/{sale}/lots/{lot}/commission-bid", tag = "bids",
    params(("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path)),
    responses(
        (status = 204, description = "The commission bid is withdrawn."), (status = 401, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(super) async fn withdraw_commission(ForBidder { at, bidder }: ForBidder<2>) -> Result<Response, ApiError> {
    let [auction, item] = at.ids;
    at.platform().withdraw_commission_bid(at.saleroom(), &bidder, (auction, item)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
