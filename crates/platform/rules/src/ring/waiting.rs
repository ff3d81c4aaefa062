//! Bids that wait while a lower one stands: internet bids that the clerk has not accepted, and commission bids.
//!
//! The clerk does not sell or pass the item over a higher bid by accident: the rules reject it until it is confirmed.

use uuid::Uuid;

use super::commissions;
use crate::{BidLog, BidSource, Item, Rejection};

/// A bid that waits and is higher than the standing bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingBid {
    /// [`BidSource::Internet`] or [`BidSource::Commission`].
    pub source: BidSource,
    /// UUID of the internet bid, or of the absentee bid.
    pub bid: Uuid,
    /// Paddle of the bidder.
    pub bidder: String,
    /// Amount of the internet bid, or maximum of the absentee bid, minor units. Only the clerk sees it.
    pub amount: i64,
}

/// The highest bid that waits above the standing bid. Of equal amounts, an internet bid comes first, and the earlier
/// one of two of a source. An absentee bid waits when its bidder does not lead.
///
/// Errors: `bid_log_incomplete`.
pub fn highest_waiting_bid(item: &Item, log: &BidLog) -> Result<Option<WaitingBid>, Rejection> {
    if item.in_ring().is_none() {
        return Ok(None);
    }
    let internet = item.pending.iter().map(|pending| WaitingBid {
        source: BidSource::Internet,
        bid: pending.bid,
        bidder: pending.bidder.clone(),
        amount: pending.amount,
    });
    let book = commissions(item, log)?.into_iter().filter(|left| left.waits_on(item)).map(|left| WaitingBid {
        source: BidSource::Commission,
        bid: left.bid,
        bidder: left.bidder,
        amount: left.maximum.reveal(),
    });
    let price = item.price().unwrap_or(0);
    // `max_by_key` returns the last of equal elements.
    Ok(internet.chain(book).filter(|waiting| waiting.amount > price).rev().max_by_key(|waiting| waiting.amount))
}

/// Rejects a decision while a higher bid waits.
pub(super) fn require_none_waits(item: &Item, log: &BidLog) -> Result<(), Rejection> {
    match highest_waiting_bid(item, log)? {
        None => Ok(()),
        Some(waiting) => Err(Rejection::HigherBidWaits { of: waiting.source }),
    }
}
