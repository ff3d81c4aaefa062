//! What only a bidder reads: who they are, their registrations, and how they stand.

use platform_core::port::{LotOffer, Registration};
use platform_core::saleroom::OwnStanding;
use platform_rules::Auction;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::models::{LotView, time};

/// A bidder, as their own account has it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bidder)]
pub(super) struct BidderView {
    /// Name. Other bidders see paddles only.
    #[schema(example = "Ann Carter")]
    pub(super) name: String,
    /// E-mail address.
    #[schema(example = "ann@example.com")]
    pub(super) email: String,
    /// Name of the house.
    #[schema(example = "Hartley & Sons")]
    pub(super) house: String,
}

/// The bidder's registration for a sale.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Registration)]
pub(super) struct RegistrationView {
    /// UUID of the sale.
    auction: Uuid,
    /// `pending` until the house decides, `approved` for a bidder who can bid, `refused` or `suspended`.
    #[schema(example = "approved")]
    status: &'static str,
    /// What other bidders see; null before the registration is approved.
    #[schema(example = "214")]
    paddle: Option<String>,
    /// The bidder's limit in this sale, minor units; null for none. Leading maxima and hammer prices count towards it.
    limit: Option<i64>,
    /// When the bidder registered.
    #[schema(format = DateTime)]
    created_at: String,
}

impl RegistrationView {
    pub(super) fn of(registration: &Registration) -> Self {
        use platform_core::port::RegistrationStatus::{Approved, Suspended};
        let has_paddle = matches!(registration.status, Approved | Suspended);
        Self {
            auction: registration.auction,
            status: registration.status.as_str(),
            paddle: has_paddle.then(|| registration.paddle.clone()),
            limit: registration.limit.filter(|_| has_paddle),
            created_at: time(registration.created_at),
        }
    }
}

/// How a bidder stands on a lot, for this bidder only.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Standing)]
pub(super) struct StandingView {
    /// The bidder's paddle in the sale.
    #[schema(example = "214")]
    paddle: String,
    /// The bidder leads, or has won.
    leads: bool,
    /// The bidder has bid on the lot.
    has_bid: bool,
    /// The bidder's maximum while they lead, minor units.
    maximum: Option<i64>,
    /// The bidder's bid on the lot in the ring that waits for the auctioneer, minor units.
    waiting: Option<i64>,
    /// The bidder's commission bid on a lot of a webcast, minor units.
    commission: Option<i64>,
}

impl StandingView {
    pub(super) fn of(own: &OwnStanding) -> Self {
        Self {
            paddle: own.paddle.clone(),
            leads: own.leads,
            has_bid: own.has_bid,
            maximum: own.maximum,
            waiting: own.waiting,
            commission: own.commission,
        }
    }
}

/// A lot of a bidder.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnLot)]
pub(super) struct OwnLotView {
    /// The lot.
    pub(super) lot: LotView,
    /// How the bidder stands; null without a registration for the sale.
    pub(super) standing: Option<StandingView>,
    /// The bidder watches the lot.
    pub(super) watched: bool,
    /// The house offers the lot to the bidder, who answers on its page in the saleroom; null without an open offer.
    pub(super) offer: Option<OfferView>,
}

/// An offer of the house to the bidder.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Offer)]
pub(super) struct OfferView {
    /// Hammer price, minor units.
    amount: i64,
    /// The price with premium and taxes, minor units.
    total: i64,
    /// The bidder can answer before this time.
    #[schema(format = DateTime)]
    until: String,
}

impl OfferView {
    pub(super) fn of(auction: &Auction, offer: &LotOffer) -> Self {
        Self { amount: offer.amount, total: auction.charges.on(offer.amount).total, until: time(offer.until) }
    }
}

/// How a bidder stands on a lot, if they are registered for its sale.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnStanding)]
pub(super) struct OwnStandingView {
    /// Null without a registration for the sale.
    pub(super) standing: Option<StandingView>,
    /// The bidder watches the lot.
    pub(super) watched: bool,
}

/// What became of a bid.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BidResult)]
pub(super) struct BidResultView {
    /// How the bidder stands after it. A bid that was accepted does not have to lead.
    pub(super) standing: Option<StandingView>,
    /// The lot after it, as everyone sees it.
    pub(super) lot: LotView,
    /// The same bid was placed before with the same key; this request placed none. Always false for `buyNow`.
    pub(super) repeated: bool,
}
