//! Internet bids: bidders place them over the API, and each is pending until the clerk accepts it.
//!
//! At most one bid of each bidder is pending. A pending bid is dropped when the asking price rises above it, when an earlier bid
//! of its bidder stands again, and when the item leaves the ring.

use jiff::Timestamp;
use uuid::Uuid;

use super::bids::{accept_at_asking_price, require_not_leading};
use super::require_running;
use crate::bid::Offer;
use crate::{Auction, BidSource, Bidder, Cause, InternetBids, Item, ItemChange, PendingBid, Rejection, StandingBid};

/// Pending internet bids of one item, at most.
pub const PENDING_MAX: usize = 50;

/// Places an internet bid. It replaces the bidder's earlier pending bid; with [`InternetBids::AcceptedAtOnce`] the
/// platform accepts it without the clerk.
pub(super) fn place(
    auction: &Auction,
    item: &Item,
    bidder: &Bidder,
    offer: &Offer,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_running(auction, item)?;
    offer.require_countable(item)?;
    offer.require_at_least(ring.asking_price)?;
    bidder.require_allowed(auction, item, offer.amount)?;
    require_not_leading(item, bidder)?;
    if auction.internet_bids == InternetBids::AcceptedAtOnce {
        return accept_at_asking_price(auction, item, offer);
    }
    let (replaced, mut pending): (Vec<_>, Vec<_>) =
        item.pending.iter().cloned().partition(|other| other.bidder == bidder.paddle);
    if pending.len() >= PENDING_MAX {
        return Err(Rejection::TooManyPending { maximum: PENDING_MAX });
    }
    pending.push(PendingBid { bid: offer.bid, bidder: offer.bidder.clone(), amount: offer.amount, at: offer.at });
    let lost = replaced.iter().map(|other| other.bid).collect();
    Ok(vec![ItemChange::PendingChanged { pending, lost, cause: Cause::BidOffered }])
}

/// The clerk accepts a pending bid. The bidder's registration and limit are checked again.
pub(super) fn accept(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    bidder: &Bidder,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    let is_it = |pending: &&PendingBid| pending.bid == bid && pending.bidder == bidder.paddle;
    let pending = item.pending.iter().find(is_it).ok_or(Rejection::NotPending)?;
    bidder.require_allowed(auction, item, pending.amount)?;
    let offer = Offer::of(bidder, bid, pending.amount, BidSource::Internet, now);
    accept_at_asking_price(auction, item, &offer)
}

/// Drops the pending bids below the new asking price, and the one that was `accepted`; none when nothing changes.
pub(super) fn keep_pending(item: &Item, asking_price: i64, accepted: Option<Uuid>, cause: Cause) -> Option<ItemChange> {
    let waits_on = |pending: &PendingBid| pending.amount >= asking_price && Some(pending.bid) != accepted;
    drop_others(item, waits_on, accepted, cause)
}

/// Drops the pending bids below the new asking price, and those of the bidder who leads now.
pub(super) fn keep_pending_against(
    item: &Item,
    asking_price: i64,
    standing: Option<&StandingBid>,
    cause: Cause,
) -> Option<ItemChange> {
    let leads = |pending: &PendingBid| standing.is_some_and(|standing| standing.bidder == pending.bidder);
    drop_others(item, |pending| pending.amount >= asking_price && !leads(pending), None, cause)
}

fn drop_others(
    item: &Item,
    waits_on: impl Fn(&PendingBid) -> bool,
    accepted: Option<Uuid>,
    cause: Cause,
) -> Option<ItemChange> {
    let (pending, dropped): (Vec<_>, Vec<_>) = item.pending.iter().cloned().partition(|pending| waits_on(pending));
    let lost = dropped.iter().map(|pending| pending.bid).filter(|bid| Some(*bid) != accepted).collect();
    (!dropped.is_empty()).then_some(ItemChange::PendingChanged { pending, lost, cause })
}

/// Drops all pending bids; none when there are none.
pub(super) fn drop_pending(item: &Item, cause: Cause) -> Option<ItemChange> {
    keep_pending(item, i64::MAX, None, cause)
}
