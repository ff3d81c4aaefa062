//! The clerk's commands that look back: the asking price set anew, a bid undone, a bid retracted (decisions, section 7).

use uuid::Uuid;

use super::bids::{drop_pending, keep_pending};
use super::{InRing, require_in_ring};
use crate::bid::AMOUNT_MAX;
use crate::bid_log::{BidLog, Struck};
use crate::item::{is_standing, strike};
use crate::{Auction, BidRecord, Cause, Item, ItemChange, Rejection, RingStatus, StandingBid, StrikeReason};

/// Sets the asking price. Standing bids at or above it are struck, and what stood before them stands. A higher price
/// brings back what lowering struck below it, unless a bid was taken or the item was out of the ring since.
pub(super) fn set_asking_price(
    auction: &Auction,
    item: &Item,
    amount: i64,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    if !(1..=AMOUNT_MAX).contains(&amount) {
        let problem = "must be between 1 and 1,000,000,000,000,000 minor units";
        return Err(Rejection::FieldInvalid { field: "amount", problem });
    }
    let (mut changes, standing) = if item.price().is_some_and(|price| amount <= price) {
        strike_at_or_above(item, amount, log)?
    } else if ring.lowered {
        reinstate_below(item, amount, log)?
    } else {
        (Vec::new(), item.standing.clone())
    };
    let lowered = ring.lowered || standing != item.standing;
    if standing != item.standing {
        changes.push(ItemChange::StandingChanged { standing, cause: Cause::AskingPriceSet });
    }
    let place = RingStatus::InRing(InRing { asking_price: amount, warnings: 0, lowered, ..ring });
    changes.push(ItemChange::RingChanged { ring: place, cause: Cause::AskingPriceSet });
    // Whoever waits has answered another price: a lower one is asked of everybody again.
    changes.extend(if amount < ring.asking_price {
        drop_pending(item, Cause::AskingPriceSet)
    } else {
        keep_pending(item, amount, Cause::AskingPriceSet)
    });
    Ok(changes)
}

/// Strikes the standing bid; what stood before stands, at the price that was asked then.
pub(super) fn undo(auction: &Auction, item: &Item, reason: String, log: &BidLog) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    log.of_item(item)?;
    let last = item.standing.as_ref().and_then(|standing| log.get(standing.number)).ok_or(Rejection::NothingToUndo)?;
    let standing = previous_standing_bid(item, last, log);
    Ok(strike_and_restore(item, ring, last, StrikeReason::Undone, reason, standing))
}

/// Strikes a bid that its bidder takes back. If it stood, nothing stands now: those who were outbid are free.
pub(super) fn retract(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    reason: String,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    let record = log.standing(item, bid)?;
    if is_standing(item, record) {
        return Ok(strike_and_restore(item, ring, record, StrikeReason::Retracted, reason, None));
    }
    Ok(vec![strike(item, record, StrikeReason::Retracted, Some(reason))])
}

/// What stood before a bid, and still counts: undone, cancelled and lowered bids are passed over, behind one that was
/// retracted nothing stands.
pub(crate) fn previous_standing_bid(item: &Item, record: &BidRecord, log: &BidLog) -> Option<StandingBid> {
    let mut number = record.before;
    // The numbers fall, so this ends.
    while let Some(before) = number.and_then(|number| earlier(item, number, log)) {
        match before.struck {
            None => return Some(standing_of(before)),
            Some(Struck { strike: StrikeReason::Retracted, .. }) => return None,
            Some(_) => number = before.before,
        }
    }
    None
}

fn strike_and_restore(
    item: &Item,
    ring: InRing,
    record: &BidRecord,
    how: StrikeReason,
    reason: String,
    standing: Option<StandingBid>,
) -> Vec<ItemChange> {
    let cause = Cause::from(how);
    // What was asked when the bid came: more than what stood then, and so than what stands now.
    let asking_price = record.asked.unwrap_or(ring.asking_price);
    let place = RingStatus::InRing(InRing { asking_price, warnings: 0, ..ring });
    let mut changes = vec![
        strike(item, record, how, Some(reason)),
        ItemChange::StandingChanged { standing, cause },
        ItemChange::RingChanged { ring: place, cause },
    ];
    changes.extend(drop_pending(item, cause));
    changes
}

type StrikeDecision = (Vec<ItemChange>, Option<StandingBid>);

fn strike_at_or_above(item: &Item, amount: i64, log: &BidLog) -> Result<StrikeDecision, Rejection> {
    log.of_item(item)?;
    let mut changes = Vec::new();
    let mut number = item.standing.as_ref().map(|standing| standing.number);
    while let Some(record) = number.and_then(|number| earlier(item, number, log)) {
        match record.struck {
            None if record.amount < amount => return Ok((changes, Some(standing_of(record)))),
            None => changes.push(strike(item, record, StrikeReason::Lowered, None)),
            Some(Struck { strike: StrikeReason::Retracted, .. }) => break,
            Some(_) => {}
        }
        number = record.before;
    }
    Ok((changes, None))
}

fn reinstate_below(item: &Item, amount: i64, log: &BidLog) -> Result<StrikeDecision, Rejection> {
    // Struck by lowering after the last bid that was taken.
    let lowered = Struck { strike: StrikeReason::Lowered, after: item.bid_count };
    let comes_back = |record: &&BidRecord| record.struck == Some(lowered) && record.amount < amount;
    let back: Vec<&BidRecord> = log.of_item(item)?.iter().filter(comes_back).collect();
    let reinstated = |record: &&BidRecord| ItemChange::BidReinstated { number: record.number, bid: record.bid };
    let standing = back.last().map(|record| standing_of(record)).or_else(|| item.standing.clone());
    Ok((back.iter().map(reinstated).collect(), standing))
}

fn earlier<'a>(item: &Item, number: i64, log: &'a BidLog) -> Option<&'a BidRecord> {
    (number > item.bids_lapsed).then(|| log.get(number)).flatten()
}

/// In a ring, a bid stands at its amount.
fn standing_of(record: &BidRecord) -> StandingBid {
    StandingBid {
        bid: record.bid,
        number: record.number,
        bidder: record.bidder.clone(),
        amount: record.amount,
        maximum: record.maximum,
        at: record.at,
    }
}
