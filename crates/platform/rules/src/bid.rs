//! Rules that all bids share: their source, the minimum bid, the highest amount.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bid_log::BIDS_MAX;
use crate::proxy::Pricing;
use crate::{Auction, BidRecord, Bidder, Hidden, Item, RegistrationRef, Rejection};

/// The highest amount of any price or bid, minor units. Adding increments to it can't overflow, and every JSON parser
/// represents it exactly.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000_000;

/// Where a bid came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BidSource {
    /// From a bidder over the API, or relayed by the clerk from another platform.
    Internet,
    /// Made in the room and entered by the clerk.
    Room,
    /// Made by the clerk for an absentee.
    Commission,
    /// An absentee's maximum, left before the item came into the ring. It never stands by itself.
    Absentee,
    /// Bought at the buy-now price.
    BuyNow,
    /// Offered after the sale, and accepted by an administrator.
    PostSaleOffer,
}

impl BidSource {
    /// All sources.
    pub const ALL: [Self; 6] =
        [Self::Internet, Self::Room, Self::Commission, Self::Absentee, Self::BuyNow, Self::PostSaleOffer];

    /// Stable name in the store and in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Internet => "internet",
            Self::Room => "room",
            Self::Commission => "commission",
            Self::Absentee => "absentee",
            Self::BuyNow => "buyNow",
            Self::PostSaleOffer => "postSaleOffer",
        }
    }
}

/// The minimum amount of the next bid, minor units. In the ring, this is the asking price. Otherwise it is the price
/// plus its increment, or the opening bid when no bid stands; an opening bid of 0 means the first increment. An item's
/// fixed increment replaces the auction's table.
pub fn minimum_bid(auction: &Auction, item: &Item) -> i64 {
    match item.in_ring() {
        Some(ring) => ring.asking_price,
        None => next_price(auction, item),
    }
}

/// The minimum amount of the next bid without an asking price of the clerk.
pub(crate) fn next_price(auction: &Auction, item: &Item) -> i64 {
    let pricing = Pricing::of(auction, item);
    item.price().map_or_else(|| pricing.opening(), |price| pricing.above(price))
}

/// A bid that is not accepted yet.
pub(crate) struct Offer {
    pub(crate) bid: Uuid,
    pub(crate) bidder: String,
    /// None for a bidder whom the caller vouches for.
    pub(crate) registration: Option<RegistrationRef>,
    pub(crate) amount: i64,
    pub(crate) source: BidSource,
    pub(crate) at: Timestamp,
}

impl Offer {
    pub(crate) fn of(bidder: &Bidder, bid: Uuid, amount: i64, source: BidSource, at: Timestamp) -> Self {
        Self { bid, bidder: bidder.paddle.clone(), registration: bidder.registered, amount, source, at }
    }

    /// Rejects an amount above the maximum, and a bid that the item's log has no room for.
    pub(crate) fn require_countable(&self, item: &Item) -> Result<(), Rejection> {
        if self.amount > AMOUNT_MAX {
            return Err(Rejection::BidTooHigh { maximum: AMOUNT_MAX });
        }
        if item.bid_count >= BIDS_MAX {
            return Err(Rejection::TooManyBids { maximum: BIDS_MAX });
        }
        Ok(())
    }

    pub(crate) fn require_at_least(&self, minimum: i64) -> Result<(), Rejection> {
        match minimum {
            minimum if self.amount >= minimum => Ok(()),
            minimum if minimum > AMOUNT_MAX => Err(Rejection::PriceAtMaximum { maximum: AMOUNT_MAX }),
            minimum => Err(Rejection::BidTooLow { minimum }),
        }
    }

    /// The offer as the item's next bid.
    pub(crate) fn record(&self, item: &Item) -> BidRecord {
        BidRecord {
            bid: self.bid,
            number: item.bid_count + 1,
            bidder: self.bidder.clone(),
            amount: self.amount,
            maximum: Hidden::new(self.amount),
            source: self.source,
            before: item.standing.as_ref().map(|standing| standing.number),
            asked: item.in_ring().map(|ring| ring.asking_price),
            registration: self.registration,
            at: self.at,
            struck: None,
        }
    }
}
