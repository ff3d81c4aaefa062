//! What others may see of an item and its bids. The reserve, maxima and absentees' bids are not in these types, and what
//! they are made of ([`Hidden`](crate::Hidden)) has no way into them.

use contract::ItemStatus;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::{AMOUNT_MAX, Auction, BidRecord, BidSource, InRing, Item, StrikeReason, minimum_bid};

/// An item's sale, as anybody may follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicItem {
    /// The item.
    pub uuid: Uuid,
    /// Status now.
    pub status: ItemStatus,
    /// The price, minor units.
    pub price: Option<i64>,
    /// Paddle of whoever leads, or bought it.
    pub leader: Option<String>,
    /// The lowest amount that the next bid may have, minor units; none when its sale is over, or no amount is higher.
    pub minimum_bid: Option<i64>,
    /// If the price has reached the reserve; none when there is no reserve.
    pub reserve_met: Option<bool>,
    /// Price at which it can be bought at once, minor units; none as soon as it can't be.
    pub buy_now: Option<i64>,
    /// Bids taken so far. What absentees left is not among them.
    pub bid_count: i64,
    /// Planned end in a timed auction.
    pub end_time: Option<Timestamp>,
    /// Real end in a timed auction: the one that counts.
    pub effective_end_time: Option<Timestamp>,
    /// How it is being offered, when it is in the ring of a webcast.
    pub ring: Option<InRing>,
    /// Rises with each change.
    pub version: i64,
}

impl PublicItem {
    /// What may be seen of the item.
    pub fn of(auction: &Auction, item: &Item) -> Self {
        Self {
            uuid: item.uuid,
            status: item.status,
            price: item.price(),
            leader: item.standing.as_ref().map(|standing| standing.bidder.clone()),
            minimum_bid: is_for_sale(item.status)
                .then(|| minimum_bid(auction, item))
                .filter(|least| *least <= AMOUNT_MAX),
            reserve_met: item.reserve_met(),
            buy_now: item.buy_now_open(),
            bid_count: item.shown_bids(),
            end_time: item.end_time,
            effective_end_time: item.effective_end_time,
            ring: item.in_ring(),
            version: item.version,
        }
    }
}

/// A passed item may be offered again.
fn is_for_sale(status: ItemStatus) -> bool {
    !matches!(status, ItemStatus::Sold | ItemStatus::SoldBuyNow | ItemStatus::Unsold | ItemStatus::Withdrawn)
}

/// A bid, as anybody may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicBid {
    /// Number of the bid among those on its item that are shown.
    pub number: i64,
    /// Paddle of whoever bid.
    pub bidder: String,
    /// What it came to, minor units; never how far its bidder would have gone. Of the leader's bids at most the price: when
    /// a cancellation lets somebody lead who had given all before, how far they go is a secret again.
    pub amount: i64,
    /// Where it came from.
    pub source: BidSource,
    /// The server's time.
    pub at: Timestamp,
    /// Why it does not count any more; none while it does.
    pub struck: Option<StrikeReason>,
}

impl PublicBid {
    /// What may be seen of a bid on the item; nothing of an absentee's maximum, which is the clerk's to use.
    pub fn of(item: &Item, record: &BidRecord) -> Option<Self> {
        let counts = record.struck.is_none() && !item.is_over(record.number, record.source);
        let leading = item.standing.as_ref().filter(|standing| counts && standing.bidder == record.bidder);
        let number = item.shown_number(record.number).filter(|_| record.source != BidSource::Absentee)?;
        Some(Self {
            number,
            bidder: record.bidder.clone(),
            amount: leading.map_or(record.amount, |standing| record.amount.min(standing.amount)),
            source: record.source,
            at: record.at,
            struck: record.struck.map(|struck| struck.strike),
        })
    }
}
