//! What a bid must be to be accepted (decisions, section 6); timed auctions and the ring ask here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Auction, Item, ItemChange, Rejection, StandingBid};

/// The highest amount anywhere, minor units: leaves room to add increments, and is exact in every JSON reader.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000_000;

/// Characters of a bidder's name, at most.
pub const BIDDER_CHARS_MAX: usize = 64;

/// Where a bid came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BidSource {
    /// Over the API or a web site.
    Internet,
    /// Taken in the room by the clerk.
    Room,
}

impl BidSource {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Internet, Self::Room];

    /// Stable word, as stored and as APIs carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Internet => "internet",
            Self::Room => "room",
        }
    }
}

/// The lowest amount that the next bid may have, minor units: the opening bid when there is none (the first increment if
/// that is 0), else price + increment at the price. An item's fixed increment takes the table's place.
pub fn minimum_bid(auction: &Auction, item: &Item) -> i64 {
    match (item.price(), item.opening_bid) {
        (Some(price), _) => {
            let increment = item.fixed_increment.unwrap_or_else(|| auction.increments.increment_at(price));
            price.saturating_add(increment)
        }
        (None, 0) => item.fixed_increment.unwrap_or_else(|| auction.increments.first()),
        (None, opening_bid) => opening_bid,
    }
}

/// A bid that somebody makes.
pub(crate) struct Offer {
    pub(crate) bid: Uuid,
    pub(crate) bidder: String,
    pub(crate) amount: i64,
    pub(crate) source: BidSource,
}

/// Accepts an offer on an item that is open for bids.
pub(crate) fn accept(auction: &Auction, item: &Item, offer: Offer, now: Timestamp) -> Result<ItemChange, Rejection> {
    let Offer { bid, bidder, amount, source } = offer;
    let is_name = !bidder.trim().is_empty() && bidder.chars().count() <= BIDDER_CHARS_MAX;
    if !is_name || bidder.chars().any(char::is_control) {
        let problem = "must have 1 to 64 characters, none of them a control character";
        return Err(Rejection::FieldInvalid { field: "bidder", problem });
    }
    if amount > AMOUNT_MAX {
        return Err(Rejection::BidTooHigh { maximum: AMOUNT_MAX });
    }
    let minimum = minimum_bid(auction, item);
    if amount < minimum {
        return Err(Rejection::BidTooLow { minimum });
    }
    let standing = StandingBid { bid, bidder, amount, at: now };
    Ok(ItemChange::BidAccepted { standing, source, number: item.bid_count + 1 })
}
