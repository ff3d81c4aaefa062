//! What every bid has in common: where it comes from, its least and highest amount.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bid_log::BIDS_MAX;
use crate::proxy::Pricing;
use crate::{Auction, Bidder, Item, RegistrationRef, Rejection};

/// The highest amount anywhere, minor units: leaves room to add increments, and is exact in every JSON reader.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000_000;

/// Where a bid came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BidSource {
    /// Over the API or a web site.
    Internet,
    /// Taken in the room by the clerk.
    Room,
    /// Executed by the clerk for an absentee.
    Commission,
    /// Left before a webcast: a maximum for the clerk to bid with. It is no offer by itself.
    Absentee,
    /// Bought at the buy-now price.
    BuyNow,
}

impl BidSource {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Internet, Self::Room, Self::Commission, Self::Absentee, Self::BuyNow];

    /// Stable word, as stored and as APIs carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Internet => "internet",
            Self::Room => "room",
            Self::Commission => "commission",
            Self::Absentee => "absentee",
            Self::BuyNow => "buyNow",
        }
    }
}

/// The lowest amount that the next bid may have, minor units. In the ring, the asking price; else the opening bid when
/// there is none (the first increment if that is 0), or price + increment at the price. An item's fixed increment takes
/// the table's place.
pub fn minimum_bid(auction: &Auction, item: &Item) -> i64 {
    match item.in_ring() {
        Some(ring) => ring.asking_price,
        None => next_price(auction, item),
    }
}

/// What is asked for next when nobody has named a price.
pub(crate) fn next_price(auction: &Auction, item: &Item) -> i64 {
    let pricing = Pricing::of(auction, item);
    item.price().map_or_else(|| pricing.opening(), |price| pricing.above(price))
}

/// A bid that somebody makes. Checked by what takes it, but for its amount's bounds.
pub(crate) struct Offer {
    pub(crate) bid: Uuid,
    pub(crate) bidder: String,
    /// Of a bidder who was looked up.
    pub(crate) registration: Option<RegistrationRef>,
    pub(crate) amount: i64,
    pub(crate) source: BidSource,
    pub(crate) at: Timestamp,
}

impl Offer {
    /// Of a bidder who was looked up.
    pub(crate) fn of(bidder: &Bidder, bid: Uuid, amount: i64, source: BidSource, at: Timestamp) -> Self {
        Self { bid, bidder: bidder.paddle.clone(), registration: bidder.registered, amount, source, at }
    }

    /// If there is room for it: in numbers, and in the item's log.
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
}
