//! The clerk sells or passes the item in the ring.

use contract::ItemStatus;
use jiff::Timestamp;

use super::waiting::require_none_waits;
use super::{Confirmed, RingDecision, empty, require_in_ring, require_running};
use crate::transitions::{ItemActor, ItemFacts, find_item_transition};
use crate::{Auction, BidLog, Item, ItemChange, Rejection, RingStatus};

/// Sells the item to its standing bid. A higher bid that waits and a price below the reserve have to be confirmed.
pub(super) fn sell(
    auction: &Auction,
    item: &Item,
    (confirmed, log): (Confirmed, &BidLog),
    now: Timestamp,
) -> Result<RingDecision, Rejection> {
    require_running(auction, item)?;
    if item.standing.is_some() {
        if !confirmed.over_waiting_bid {
            require_none_waits(item, log)?;
        }
        if !confirmed.below_reserve && item.reserve_met() == Some(false) {
            return Err(Rejection::ReserveNotMet);
        }
    }
    finish(auction, item, ItemActor::ClerkSells, ItemStatus::Sold, now)
}

/// Passes the item. Its bids are over, so the amounts no longer count towards the bidders' spending limits. Reopening
/// the lot before another one is sent restores the bid that stood.
pub(super) fn pass(
    auction: &Auction,
    item: &Item,
    (over_waiting_bid, log): (bool, &BidLog),
    now: Timestamp,
) -> Result<RingDecision, Rejection> {
    require_running(auction, item)?;
    if !over_waiting_bid {
        require_none_waits(item, log)?;
    }
    let mut decision = finish(auction, item, ItemActor::ClerkPasses, ItemStatus::Passed, now)?;
    if item.bid_count > item.bids_passed.max(item.bids_lapsed) {
        decision.item.push(ItemChange::BidsPassed { through: item.bid_count });
    }
    Ok(decision)
}

fn finish(
    auction: &Auction,
    item: &Item,
    by: ItemActor,
    to: ItemStatus,
    now: Timestamp,
) -> Result<RingDecision, Rejection> {
    require_in_ring(auction, item)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    let row = find_item_transition(&facts, &[by], Some(to))?;
    let mut changes = row.changes(auction, item, None);
    changes.push(ItemChange::RingChanged { ring: RingStatus::Done, cause: row.cause });
    Ok(empty(item, changes, row.cause))
}
