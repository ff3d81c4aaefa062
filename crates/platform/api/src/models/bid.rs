//! Bids.

use platform_core::bid::Bid;
use platform_rules::{Item, PublicBid};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{ItemView, time};

/// An accepted bid. Never edited.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bid)]
pub(crate) struct BidView {
    pub(crate) uuid: Uuid,
    /// Number of the bid on its item, from 1 without gaps; null for what an absentee left, which others don't count.
    pub(crate) number: Option<i64>,
    pub(crate) bidder: String,
    /// What it came to, minor units: the price that its bidder led at, or the whole bid if it was outbid at once; of the
    /// leader's bids never more than the price. Never how far its bidder would have gone; null for what an absentee left.
    pub(crate) amount: Option<i64>,
    /// `internet`, `room`, `commission`, `absentee` or `buyNow`.
    pub(crate) source: &'static str,
    /// `cancelled`, `undone`, `retracted`, `lowered`, or `lapsed` when the item was passed, or is a DRAFT again, when it does not
    /// count any more.
    pub(crate) struck: Option<&'static str>,
    #[schema(format = DateTime)]
    pub(crate) at: String,
}

impl BidView {
    /// Made from what the rules say may be seen of a bid: nothing of what an absentee left, but that it is there.
    pub(crate) fn new(item: &Item, bid: &Bid) -> Self {
        let public = PublicBid::of(item, &bid.record());
        Self {
            uuid: bid.uuid,
            number: public.as_ref().map(|public| public.number),
            bidder: bid.bidder.clone(),
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

    /// A bid as others see it; none when they don't.
    pub(crate) fn for_others(item: &Item, bid: &Bid) -> Option<Self> {
        PublicBid::of(item, &bid.record()).map(|_| Self::new(item, bid))
    }
}

/// A bid with the item as it stands after it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlacedBid)]
pub(crate) struct PlacedBidView {
    pub(crate) bid: BidView,
    pub(crate) item: ItemView,
}
