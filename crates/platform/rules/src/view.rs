//! Public views of an item and its bids. These types have no field for the reserve, for maxima or for absentee bids,
//! and a [`Hidden`](crate::Hidden) amount has no conversion into their fields.

use contract::ItemStatus;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::{AMOUNT_MAX, Auction, BidRecord, BidSource, InRing, Item, StrikeReason, minimum_bid};

/// The public view of an item's sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicItem {
    /// The item.
    pub uuid: Uuid,
    /// Status now.
    pub status: ItemStatus,
    /// The price, minor units.
    pub price: Option<i64>,
    /// Paddle of the leading bidder, or of the buyer; none when no bid stands, and for a bidder in the room whose paddle
    /// the clerk does not know yet.
    pub leader: Option<String>,
    /// Minimum amount of the next bid, minor units; none when the sale is over, or when the price is at the maximum.
    pub minimum_bid: Option<i64>,
    /// True when the price has reached the reserve; none without a reserve.
    pub reserve_met: Option<bool>,
    /// Buy-now price, minor units; none when there is none, or when the price has reached it.
    pub buy_now: Option<i64>,
    /// Number of accepted bids, without absentee bids.
    pub bid_count: i64,
    /// Planned end in a timed auction.
    pub end_time: Option<Timestamp>,
    /// Effective end in a timed auction: this one decides.
    pub effective_end_time: Option<Timestamp>,
    /// State in the ring of a webcast; none outside of the ring.
    pub ring: Option<InRing>,
    /// Rises with every change.
    pub version: i64,
}

impl PublicItem {
    /// The public view of the item.
    pub fn of(auction: &Auction, item: &Item) -> Self {
        Self {
            uuid: item.uuid,
            status: item.status,
            price: item.price(),
            leader: item.standing.as_ref().and_then(|standing| standing.known_bidder()).map(str::to_owned),
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

/// A PASSED item counts, because the clerk may offer it again.
fn is_for_sale(status: ItemStatus) -> bool {
    !matches!(status, ItemStatus::Sold | ItemStatus::SoldBuyNow | ItemStatus::Unsold | ItemStatus::Withdrawn)
}

/// The public view of a bid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicBid {
    /// Number of the bid among the public bids of its item.
    pub number: i64,
    /// Paddle of the bidder; empty for a bidder in the room whose paddle the clerk does not know yet.
    pub bidder: String,
    /// Public amount, minor units; never the maximum of a leading bidder. A bid of the leading bidder shows at most the
    /// price: after a cancellation, a bid that had shown its whole maximum can lead again, and its maximum is secret
    /// again.
    pub amount: i64,
    /// Source of the bid.
    pub source: BidSource,
    /// The server's time at which it was accepted.
    pub at: Timestamp,
    /// Why it no longer counts; none while it counts.
    pub struck: Option<StrikeReason>,
}

impl PublicBid {
    /// The public view of a bid on the item; none for an absentee bid, which only the clerk sees.
    pub fn of(item: &Item, record: &BidRecord) -> Option<Self> {
        let counts = record.struck.is_none() && !item.is_over(record.number, record.source);
        let leading = item.standing.as_ref().filter(|standing| counts && standing.bidder == record.bidder);
        let number = item.shown_number(record.number).filter(|_| record.source != BidSource::Absentee)?;
        Some(Self {
            number,
            bidder: record.bidder.clone(),
            // A correction that raises the price raises no bid.
            amount: leading.map_or(record.amount, |standing| {
                record.amount.min(standing.amount).min(item.price_before_correction.unwrap_or(i64::MAX))
            }),
            source: record.source,
            at: record.at,
            struck: record.struck.map(|struck| struck.strike),
        })
    }
}
