//! The clerk reopens a lot that was sold or passed, or offers a passed item again.
//!
//! Reopening reverses the last decision: the item is in the ring again, with the bid that stood. An item that is offered
//! again restarts: it waits, at its opening bid, with its absentee bids only.

use contract::ItemStatus;
use jiff::Timestamp;

use super::{RingDecision, enter, occupy, require_empty};
use crate::item::BeforePass;
use crate::transitions::{ItemActor, ItemFacts, find_item_transition};
use crate::{Auction, Cause, Item, ItemChange, Rejection};

/// Reopens the lot that was sold or passed last, if the ring is empty and no other item was sent since.
pub(super) fn reopen(
    auction: &Auction,
    item: &Item,
    reason: String,
    now: Timestamp,
) -> Result<RingDecision, Rejection> {
    require_empty(auction)?;
    if auction.last_in_ring != Some(item.uuid) {
        return Err(Rejection::NotLastItem);
    }
    let facts = ItemFacts { auction, item, reason: Some(&reason), now };
    let row = find_item_transition(&facts, &[ItemActor::Correction], Some(ItemStatus::Live))?;
    let mut changes = row.changes(auction, item, Some(reason));
    // The row's changes make the item wait; a reopened item goes straight into the ring.
    changes.retain(|change| !matches!(change, ItemChange::RingChanged { .. }));
    let mut restored = item.clone();
    changes.iter().for_each(|change| restored.apply(change));
    if let Some(BeforePass { passed, standing }) = item.before_pass.clone() {
        let change = ItemChange::BidsRestored { passed, standing };
        restored.apply(&change);
        changes.push(change);
    }
    changes.push(enter(auction, &restored, Cause::Reopened));
    Ok(RingDecision { item: changes, auction: vec![occupy(item, None, Cause::Reopened)] })
}

/// Makes a PASSED item LIVE again; it waits to be sent.
pub(super) fn offer_again(auction: &Auction, item: &Item, now: Timestamp) -> Result<Vec<ItemChange>, Rejection> {
    if item.status != ItemStatus::Passed {
        return Err(Rejection::ItemNotPassed { status: item.status.name() });
    }
    let facts = ItemFacts { auction, item, reason: None, now };
    let row = find_item_transition(&facts, &[ItemActor::ClerkOffersAgain], Some(ItemStatus::Live))?;
    Ok(row.changes(auction, item, None))
}
