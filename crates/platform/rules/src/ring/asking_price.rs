//! The clerk sets the asking price. A lower price can strike bids; a higher one can reinstate them.

use super::internet_bids::keep_pending;
use super::undo::earlier_bid;
use super::{InRing, drop_pending, in_ring, require_in_ring};
use crate::bid::AMOUNT_MAX;
use crate::bid_log::{BidLog, Struck};
use crate::{Auction, BidRecord, Cause, Item, ItemChange, Rejection, StandingBid, StrikeReason};

/// Sets the asking price. Bids at or above it are struck, and the bid that stood before them stands again. A higher
/// price reinstates the bids below it that lowering struck, unless a bid was accepted or the item left the ring since.
pub(super) fn set(auction: &Auction, item: &Item, amount: i64, log: &BidLog) -> Result<Vec<ItemChange>, Rejection> {
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
    changes.push(in_ring(InRing { asking_price: amount, warnings: 0, lowered, ..ring }, Cause::AskingPriceSet));
    // Pending bids answered the previous asking price. A lower price is open to all bidders again.
    changes.extend(if amount < ring.asking_price {
        drop_pending(item, Cause::AskingPriceSet)
    } else {
        keep_pending(item, amount, None, Cause::AskingPriceSet)
    });
    Ok(changes)
}

/// The struck or reinstated bids, and the bid that stands afterwards.
type StrikeDecision = (Vec<ItemChange>, Option<StandingBid>);

fn strike_at_or_above(item: &Item, amount: i64, log: &BidLog) -> Result<StrikeDecision, Rejection> {
    log.of_item(item)?;
    let mut changes = Vec::new();
    let mut number = item.standing.as_ref().map(|standing| standing.number);
    while let Some(record) = number.and_then(|number| earlier_bid(item, number, log)) {
        match record.struck {
            None if record.amount < amount => return Ok((changes, Some(record.standing_at(record.amount)))),
            None => changes.push(record.strike(item, StrikeReason::Lowered, None)),
            Some(Struck { strike: StrikeReason::Retracted, .. }) => break,
            Some(_) => {}
        }
        number = record.before;
    }
    Ok((changes, None))
}

fn reinstate_below(item: &Item, amount: i64, log: &BidLog) -> Result<StrikeDecision, Rejection> {
    // Only bids that were struck by lowering after the last accepted bid.
    let lowered = Struck { strike: StrikeReason::Lowered, after: item.bid_count };
    let counts_again = |record: &&BidRecord| record.struck == Some(lowered) && record.amount < amount;
    let records: Vec<&BidRecord> = log.of_item(item)?.iter().filter(counts_again).collect();
    let reinstated = |record: &&BidRecord| ItemChange::BidReinstated { number: record.number, bid: record.bid };
    let standing = records.last().map(|record| record.standing_at(record.amount)).or_else(|| item.standing.clone());
    Ok((records.iter().map(reinstated).collect(), standing))
}
