//! Absentee bids: maxima that bidders leave until an item is sent to the ring. An absentee bid never stands; the clerk
//! makes commission bids up to its maximum.

use crate::bid::{Offer, next_price};
use crate::ring::commissions;
use crate::unusual_amount::require_usual;
use crate::{Auction, AuctionKind, BidLog, BidRecord, Bidder, Item, ItemChange, Rejection, StrikeReason};

/// The reason of a withdrawal without one.
const WITHDRAWN: &str = "The absentee bid was withdrawn";

/// Places an absentee bid; `offer.amount` is the maximum. It replaces an earlier one of the same bidder.
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    (offer, unusual_amount): (&Offer, bool),
) -> Result<Vec<ItemChange>, Rejection> {
    require_open_for_absentees(auction, item)?;
    offer.require_countable(item)?;
    offer.require_at_least(next_price(auction, item))?;
    bidder.require_allowed(auction, item, offer.amount)?;
    if !unusual_amount {
        require_usual(auction, item, offer.amount)?;
    }
    let record = BidRecord { amount: 0, ..offer.record(item) };
    Ok(vec![ItemChange::BidAccepted { record, standing: item.standing.clone() }])
}

/// Withdraws the maximum of a bidder. An earlier one of the same bidder does not count again.
pub(super) fn withdraw(
    auction: &Auction,
    item: &Item,
    bidder: &str,
    reason: Option<String>,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    require_open_for_absentees(auction, item)?;
    let commissions = commissions(item, log)?;
    let commission = commissions.iter().find(|commission| commission.bidder == bidder);
    let record = commission.and_then(|commission| log.get(commission.number)).ok_or(Rejection::NoCommission)?;
    let reason = reason.unwrap_or_else(|| WITHDRAWN.to_owned());
    Ok(vec![record.strike(item, StrikeReason::Cancelled, Some(reason))])
}

/// Rejects unless the item of a webcast is LIVE and not in the ring: before it is offered, or while it waits to be offered
/// again.
fn require_open_for_absentees(auction: &Auction, item: &Item) -> Result<(), Rejection> {
    auction.require_kind(AuctionKind::Webcast)?;
    auction.require_live()?;
    item.require_live()?;
    if item.in_ring().is_some() { Err(Rejection::ItemInRing) } else { Ok(()) }
}
