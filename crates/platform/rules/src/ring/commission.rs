//! Commission bids: the clerk bids for absentees, within the maxima that they left before the webcast.

use uuid::Uuid;

use super::bids::{accept, require_not_leading};
use super::require_running;
use crate::bid::Offer;
use crate::{Auction, BidLog, BidSource, Bidder, Hidden, Item, ItemChange, Rejection};

/// Accepts the clerk's bid for an absentee who does not lead already.
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    require_running(auction, item)?;
    let commissions = commissions(item, log)?;
    let of_bidder = |commission: &&Commission| commission.bidder == offer.bidder;
    let commission = commissions.iter().find(of_bidder).ok_or(Rejection::NoCommission)?;
    if offer.amount > commission.maximum.reveal() {
        return Err(Rejection::CommissionExceeded);
    }
    require_not_leading(item, bidder)?;
    bidder.require_allowed(auction, item, offer.amount)?;
    accept(auction, item, offer)
}

/// An absentee bid that the clerk can bid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commission {
    /// UUID of the absentee bid.
    pub bid: Uuid,
    /// Number of the absentee bid.
    pub number: i64,
    /// The absentee.
    pub bidder: String,
    /// How much the clerk may bid at most.
    pub maximum: Hidden,
}

/// The commissions of an item for the clerk's desk: the last one of each absentee, the highest first, and the earlier
/// first among equal ones.
///
/// Errors: `bid_log_incomplete`.
pub fn commissions(item: &Item, log: &BidLog) -> Result<Vec<Commission>, Rejection> {
    let mut commissions: Vec<Commission> = Vec::new();
    for record in log.of_item(item)?.iter().filter(|record| record.stands() && record.source == BidSource::Absentee) {
        commissions.retain(|earlier| earlier.bidder != record.bidder);
        let (bid, number, bidder, maximum) = (record.bid, record.number, record.bidder.clone(), record.maximum);
        commissions.push(Commission { bid, number, bidder, maximum });
    }
    commissions.sort_by_key(|commission| (std::cmp::Reverse(commission.maximum), commission.number));
    Ok(commissions)
}
