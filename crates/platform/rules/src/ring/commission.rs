//! Commission bids: the clerk bids for absentees, within the maxima that they left before the item came into the ring.
//!
//! The clerk names no amount. The book bids only against the next maximum, the standing bid and, where a maximum reaches
//! it, the reserve; never against itself.

use uuid::Uuid;

use super::bids::{accept, require_not_leading};
use super::require_running;
use crate::bid::Offer;
use crate::proxy::Pricing;
use crate::{Auction, BidLog, BidRecord, BidSource, Bidder, Hidden, Item, ItemChange, Rejection};

/// Accepts the clerk's bid for an absentee who does not lead already, at the amount of [`commission_amount`].
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: impl FnOnce(i64) -> Offer,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    let commissions = commissions(item, log)?;
    let of_bidder = |commission: &&Commission| commission.bidder == bidder.paddle;
    let commission = commissions.iter().find(of_bidder).ok_or(Rejection::NoCommission)?;
    require_not_leading(item, bidder)?;
    if !commission.waits_on(item) {
        return Err(Rejection::CommissionExceeded);
    }
    let amount = commission_amount(auction, item, &commissions, commission);
    bidder.require_allowed(auction, item, amount)?;
    // A maximum below the asking price is bid too, because it is above the standing bid.
    accept(auction, item, &offer(amount), amount.min(ring.asking_price))
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
    /// Number of the absentee bid that raised the maximum last. Of equal maxima, the one raised earlier leads.
    raised: i64,
}

/// The commissions of an item for the clerk's desk: the last one of each absentee, the highest first, and the one raised
/// earlier first among equal ones. A bid that lowers a maximum keeps its time. A bid that was withdrawn leaves none.
///
/// Errors: `bid_log_incomplete`.
pub fn commissions(item: &Item, log: &BidLog) -> Result<Vec<Commission>, Rejection> {
    let mut last: Vec<(&BidRecord, i64)> = Vec::new();
    for record in log.of_item(item)?.iter().filter(|record| record.source == BidSource::Absentee) {
        let place = last.iter().position(|(earlier, _)| earlier.bidder == record.bidder);
        let earlier = place.map(|place| last.remove(place));
        let was_withdrawn = |earlier: &BidRecord| earlier.struck.is_some_and(|struck| struck.after < record.number);
        let raised = match earlier {
            Some((earlier, raised)) if record.maximum <= earlier.maximum && !was_withdrawn(earlier) => raised,
            _ => record.number,
        };
        last.push((record, raised));
    }
    let standing = last.into_iter().filter(|(record, _)| record.stands());
    let mut commissions: Vec<Commission> = standing
        .map(|(record, raised)| {
            let (bid, number, bidder, maximum) = (record.bid, record.number, record.bidder.clone(), record.maximum);
            Commission { bid, number, bidder, maximum, raised }
        })
        .collect();
    commissions.sort_by_key(|commission| (std::cmp::Reverse(commission.maximum), commission.raised));
    Ok(commissions)
}

/// The commission that bids next: the first of an absentee who does not lead, if it is above the standing bid.
pub fn next_commission<'a>(item: &Item, commissions: &'a [Commission]) -> Option<&'a Commission> {
    commissions.iter().find(|commission| commission.waits_on(item))
}

/// The amount that a commission bids: the smallest that reaches the asking price, is a step above the highest maximum of
/// another absentee, and reaches the reserve if the maximum does; at most the maximum.
pub fn commission_amount(auction: &Auction, item: &Item, commissions: &[Commission], commission: &Commission) -> i64 {
    let pricing = Pricing::of(auction, item);
    let maximum = commission.maximum.reveal();
    let asked = crate::minimum_bid(auction, item);
    let others = commissions.iter().filter(|other| other.bidder != commission.bidder);
    let above_others = others.map(|other| other.maximum.reveal()).max().map_or(0, |second| pricing.above(second));
    let reserve = item.reserve.map(Hidden::reveal).filter(|reserve| maximum >= *reserve).unwrap_or(0);
    maximum.min(asked.max(above_others).max(reserve))
}

impl Commission {
    /// True when the absentee does not lead, and the maximum is above the standing bid.
    pub(super) fn waits_on(&self, item: &Item) -> bool {
        item.standing
            .as_ref()
            .is_none_or(|standing| standing.bidder != self.bidder && standing.amount < self.maximum.reveal())
    }
}
