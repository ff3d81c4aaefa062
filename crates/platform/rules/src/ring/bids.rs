//! Bids on the item in the ring: from the room, the internet, and for absentees.

use uuid::Uuid;

use super::{InRing, require_running};
use crate::bid::Offer;
use crate::bid_log::BidLog;
use crate::item::{Pending, record_of};
use crate::paddle::require_name;
use crate::proxy::Pricing;
use crate::{
    Auction, BidSource, Bidder, Cause, Hidden, InternetBids, Item, ItemChange, Rejection, RingStatus, StandingBid,
};

/// Internet bids that can wait for the clerk on one item.
pub const PENDING_MAX: usize = 50;

/// A bid in the room.
pub(super) fn room(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    bidder.require_admitted_to_room(auction, item)?;
    take(auction, item, offer)
}

/// The clerk takes a bid that came over the internet by another way.
pub(super) fn internet(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    require_running(auction, item)?;
    require_other(item, bidder)?;
    bidder.require_allowed(auction, item, offer.amount)?;
    take(auction, item, offer)
}

/// The clerk takes a bid: it stands, the next step is asked for, and what waits below that is gone.
fn take(auction: &Auction, item: &Item, offer: &Offer) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    require_name(&offer.bidder)?;
    offer.require_countable(item)?;
    offer.require_at_least(ring.asking_price)?;
    let record = record_of(item, offer);
    let standing = StandingBid {
        bid: record.bid,
        number: record.number,
        bidder: record.bidder.clone(),
        amount: record.amount,
        maximum: record.maximum,
        at: record.at,
    };
    let asking_price = Pricing::of(auction, item).above(record.amount);
    let mut changes = vec![ItemChange::BidAccepted { record, standing: Some(standing) }];
    let ring = RingStatus::InRing(InRing { asking_price, warnings: 0, lowered: false, ..ring });
    changes.push(ItemChange::RingChanged { ring, cause: Cause::BidTaken });
    changes.extend(keep_pending(item, asking_price, Cause::BidTaken));
    Ok(changes)
}

/// A bidder on the internet bids: it waits for the clerk, or is taken at once where the auction says so.
pub(super) fn online(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    offer.require_countable(item)?;
    offer.require_at_least(ring.asking_price)?;
    bidder.require_allowed(auction, item, offer.amount)?;
    require_other(item, bidder)?;
    if auction.internet_bids == InternetBids::AcceptedAtOnce {
        return take(auction, item, offer);
    }
    let mut pending: Vec<Pending> =
        item.pending.iter().filter(|other| other.bidder != bidder.paddle).cloned().collect();
    if pending.len() >= PENDING_MAX {
        return Err(Rejection::TooManyPending { maximum: PENDING_MAX });
    }
    pending.push(Pending { bid: offer.bid, bidder: offer.bidder.clone(), amount: offer.amount, at: offer.at });
    Ok(vec![ItemChange::PendingChanged { pending, cause: Cause::BidOffered }])
}

/// Nobody goes above their own bid. (In the room, one name may stand for many.)
fn require_other(item: &Item, bidder: &Bidder) -> Result<(), Rejection> {
    match &item.standing {
        Some(standing) if standing.bidder == bidder.paddle => Err(Rejection::AlreadyLeading),
        _ => Ok(()),
    }
}

/// The clerk accepts a bid that waits. Its bidder's registration is looked at once more.
pub(super) fn accept(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    bidder: &Bidder,
    now: jiff::Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    let waits = |pending: &&Pending| pending.bid == bid && pending.bidder == bidder.paddle;
    let pending = item.pending.iter().find(waits).ok_or(Rejection::NotPending)?;
    bidder.require_allowed(auction, item, pending.amount)?;
    let offer = Offer::of(bidder, bid, pending.amount, BidSource::Internet, now);
    take(auction, item, &offer)
}

/// The clerk bids for an absentee, within what they left, and not above themselves.
pub(super) fn commission(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    require_running(auction, item)?;
    let left = commissions(item, log)?;
    let left = left.iter().find(|left| left.bidder == offer.bidder).ok_or(Rejection::NoCommission)?;
    if offer.amount > left.maximum.reveal() {
        return Err(Rejection::CommissionExceeded);
    }
    require_other(item, bidder)?;
    bidder.require_allowed(auction, item, offer.amount)?;
    take(auction, item, offer)
}

/// What an absentee left for the clerk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commission {
    /// UUID of the bid that it was left as.
    pub bid: Uuid,
    /// Number of that bid.
    pub number: i64,
    /// Who left it.
    pub bidder: String,
    /// How far the clerk may go.
    pub maximum: Hidden,
}

/// What absentees left, for the clerk's desk: the last of each, the highest first, the earlier first among equals.
///
/// Errors: `bid_log_incomplete`.
pub fn commissions(item: &Item, log: &BidLog) -> Result<Vec<Commission>, Rejection> {
    let mut left: Vec<Commission> = Vec::new();
    for record in log.of_item(item)?.iter().filter(|record| record.stands() && record.source == BidSource::Absentee) {
        left.retain(|earlier| earlier.bidder != record.bidder);
        let (bid, number, bidder, maximum) = (record.bid, record.number, record.bidder.clone(), record.maximum);
        left.push(Commission { bid, number, bidder, maximum });
    }
    left.sort_by_key(|commission| (std::cmp::Reverse(commission.maximum), commission.number));
    Ok(left)
}

/// Bids that wait below the new asking price are gone.
pub(super) fn keep_pending(item: &Item, asking_price: i64, cause: Cause) -> Option<ItemChange> {
    let kept: Vec<Pending> = item.pending.iter().filter(|pending| pending.amount >= asking_price).cloned().collect();
    (kept.len() < item.pending.len()).then_some(ItemChange::PendingChanged { pending: kept, cause })
}

/// Nothing waits any more.
pub(super) fn drop_pending(item: &Item, cause: Cause) -> Option<ItemChange> {
    (!item.pending.is_empty()).then(|| ItemChange::PendingChanged { pending: Vec::new(), cause })
}
