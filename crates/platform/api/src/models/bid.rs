//! Bids.

use platform_core::bidding::bid::Bid;
use platform_rules::{Item, PublicBid, known_paddle};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{ItemView, time};

/// An accepted bid. Never edited.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bid)]
pub(crate) struct BidView {
    /// UUID of the bid.
    pub(crate) uuid: Uuid,
    /// Number of the bid on its item, from 1 without gaps; null for an absentee bid, which the public numbering omits.
    pub(crate) number: Option<i64>,
    /// Paddle of the bidder; null for a bidder in the room whose paddle the clerk does not know yet.
    pub(crate) bidder: Option<String>,
    /// Minor units: the price at which the bidder led, or the whole bid if it was outbid immediately. For the leader
    /// never more than the price; never the maximum. Null for an absentee bid.
    pub(crate) amount: Option<i64>,
    /// `internet`, `room`, `commission`, `absentee`, `buyNow` or `postSaleOffer`.
    pub(crate) source: &'static str,
    /// Why the bid does not count: `cancelled`, `undone`, `retracted`, `lowered`, or `lapsed` if the item was passed or
    /// is a DRAFT again. Null while it counts.
    pub(crate) struck: Option<&'static str>,
    /// When the bid was accepted.
    #[schema(format = DateTime)]
    pub(crate) at: String,
}

impl BidView {
    /// Shows what the rules make public ([`PublicBid`]): of an absentee bid neither number nor amount.
    pub(crate) fn new(item: &Item, bid: &Bid) -> Self {
        let public = PublicBid::of(item, &bid.record());
        Self {
            uuid: bid.uuid,
            number: public.as_ref().map(|public| public.number),
            bidder: known_paddle(&bid.bidder).map(str::to_owned),
            amount: public.map(|public| public.amount),
            source: bid.source.as_str(),
            struck: bid
                .struck
                .as_ref()
                .map(|struck| struck.strike.as_str())
                .or(item.is_over(bid.number, bid.source).then_some("lapsed")),
            at: time(bid.at),
        }
    }

    /// A bid as other bidders see it; `None` for one that they may not see.
    pub(crate) fn for_others(item: &Item, bid: &Bid) -> Option<Self> {
        PublicBid::of(item, &bid.record()).map(|_| Self::new(item, bid))
    }
}

/// A bid, and the item after it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlacedBid)]
pub(crate) struct PlacedBidView {
    /// The bid.
    pub(crate) bid: BidView,
    /// The item after the bid.
    pub(crate) item: ItemView,
}
