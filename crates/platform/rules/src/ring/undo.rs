//! The clerk undoes the last bid: the bid that stood before it stands again, at the asking price of that moment. If a
//! lowered asking price struck bids since, undo brings these back instead.

use super::asking_price::restore;
use super::internet_bids::keep_pending_against;
use super::{InRing, in_ring, require_in_ring};
use crate::bid_log::{BidLog, Struck};
use crate::{Auction, BidRecord, Cause, Item, ItemChange, Rejection, StandingBid, StrikeReason};

/// Reinstates the bids that a lowered asking price struck. Without such bids, strikes the standing bid and restores the one
/// before it.
pub(super) fn undo(auction: &Auction, item: &Item, reason: String, log: &BidLog) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    log.of_item(item)?;
    if let Some(restored) = restore(auction, item, log)? {
        return Ok(restored);
    }
    let last = item.standing.as_ref().and_then(|standing| log.get(standing.number)).ok_or(Rejection::NothingToUndo)?;
    let standing = previous_standing_bid(item, last, log);
    Ok(strike_and_restore(item, ring, last, StrikeReason::Undone, reason, standing))
}

/// The bid that stood before `record` and still counts. Undone, cancelled and lowered bids are skipped. None when the
/// search meets a retracted bid: the bidders outbid by it are free.
pub(crate) fn previous_standing_bid(item: &Item, record: &BidRecord, log: &BidLog) -> Option<StandingBid> {
    let mut number = record.before;
    // The loop ends: `before` is always a lower number.
    while let Some(before) = number.and_then(|number| earlier_bid(item, number, log)) {
        match before.struck {
            None => return Some(before.standing_at(before.amount)),
            Some(Struck { strike: StrikeReason::Retracted, .. }) => return None,
            Some(_) => number = before.before,
        }
    }
    None
}

/// Strikes the standing bid `record` and makes `standing` stand, at the asking price that `record` answered.
pub(super) fn strike_and_restore(
    item: &Item,
    ring: InRing,
    record: &BidRecord,
    strike: StrikeReason,
    reason: String,
    standing: Option<StandingBid>,
) -> Vec<ItemChange> {
    let cause = Cause::from(strike);
    // The asking price at the time of the bid was above the bid that stood then, and so above the one that stands now.
    let asking_price = record.asked.unwrap_or(ring.asking_price);
    let pending = keep_pending_against(item, asking_price, standing.as_ref(), cause);
    let mut changes = vec![
        record.strike(item, strike, Some(reason)),
        ItemChange::StandingChanged { standing, cause },
        in_ring(InRing { asking_price, warnings: 0, ..ring }, cause),
    ];
    changes.extend(pending);
    changes
}

/// The bid with this number, unless it lapsed with a withdrawal.
pub(super) fn earlier_bid<'a>(item: &Item, number: i64, log: &'a BidLog) -> Option<&'a BidRecord> {
    (number > item.bids_lapsed).then(|| log.get(number)).flatten()
}
