//! The clerk sets the asking price. A lower price can strike bids; a higher one can reinstate them.

use super::internet_bids::keep_pending_against;
use super::large_jump::{require_no_large_drop, require_no_large_jump};
use super::undo::earlier_bid;
use super::{ConfirmedPrice, InRing, in_ring, require_in_ring};
use crate::bid::AMOUNT_MAX;
use crate::bid_log::{BidLog, Struck};
use crate::proxy::Pricing;
use crate::{Auction, BidRecord, Cause, Item, ItemChange, Rejection, StandingBid, StrikeReason};

/// Sets the asking price. Bids at or above it are struck, and the bid that stood before them stands again. A higher
/// price reinstates the bids below it that lowering struck, unless a bid was accepted or the item left the ring since.
/// A price that strikes bids, a large jump and a large drop have to be confirmed. Internet bids that wait stay if they bid
/// at least the new price.
pub(super) fn set(
    auction: &Auction,
    item: &Item,
    (amount, confirmed): (i64, ConfirmedPrice),
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    if !(1..=AMOUNT_MAX).contains(&amount) {
        let problem = "must be between 1 and 1,000,000,000,000,000 minor units";
        return Err(Rejection::FieldInvalid { field: "amount", problem });
    }
    if !confirmed.large_jump {
        require_no_large_jump(auction, item, amount)?;
    }
    let (mut changes, standing) = if item.price().is_some_and(|price| amount <= price) {
        strike_at_or_above(item, amount, log)?
    } else if ring.lowered {
        reinstate_below(item, amount, log)?
    } else {
        (Vec::new(), item.standing.clone())
    };
    let struck = changes.iter().filter(|change| matches!(change, ItemChange::BidStruck { .. })).count();
    if struck > 0 && !confirmed.below_standing_bid {
        return Err(Rejection::CancelsBids { count: struck });
    }
    // A clerk who confirmed that bids are cancelled has seen the price.
    if struck == 0 && !confirmed.large_jump {
        require_no_large_drop(auction, item, amount)?;
    }
    let pending = keep_pending_against(item, amount, standing.as_ref(), Cause::AskingPriceSet);
    let lowered = ring.lowered || standing != item.standing;
    if standing != item.standing {
        changes.push(ItemChange::StandingChanged { standing, cause: Cause::AskingPriceSet });
    }
    changes.push(in_ring(InRing { asking_price: amount, warnings: 0, lowered, ..ring }, Cause::AskingPriceSet));
    changes.extend(pending);
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
    let mut records = lowered_bids(item, log)?;
    records.retain(|record| record.amount < amount);
    let reinstated = |record: &&BidRecord| ItemChange::BidReinstated { number: record.number, bid: record.bid };
    let standing = records.last().map(|record| record.standing_at(record.amount)).or_else(|| item.standing.clone());
    Ok((records.iter().map(reinstated).collect(), standing))
}

/// The bids that a lowered asking price struck and that undo brings back, in order of their numbers: none when a bid was
/// accepted since, or the item left the ring.
///
/// Errors: `bid_log_incomplete`.
pub fn lowered_bids<'a>(item: &Item, log: &'a BidLog) -> Result<Vec<&'a BidRecord>, Rejection> {
    if item.in_ring().is_none_or(|ring| !ring.lowered) {
        return Ok(Vec::new());
    }
    let lowered = Struck { strike: StrikeReason::Lowered, after: item.bid_count };
    Ok(log.of_item(item)?.iter().filter(|record| record.struck == Some(lowered)).collect())
}

/// Brings back all bids that the lowered asking price struck, and asks for a step above the highest of them; none when
/// there are none.
pub(super) fn restore(auction: &Auction, item: &Item, log: &BidLog) -> Result<Option<Vec<ItemChange>>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    if lowered_bids(item, log)?.is_empty() {
        return Ok(None);
    }
    let (mut changes, standing) = reinstate_below(item, i64::MAX, log)?;
    let price = standing.as_ref().map_or(0, |standing| standing.amount);
    let asking_price = ring.asking_price.max(Pricing::of(auction, item).above(price));
    let pending = keep_pending_against(item, asking_price, standing.as_ref(), Cause::AskingPriceSet);
    changes.push(ItemChange::StandingChanged { standing, cause: Cause::AskingPriceSet });
    changes.push(in_ring(InRing { asking_price, warnings: 0, lowered: false, ..ring }, Cause::AskingPriceSet));
    changes.extend(pending);
    Ok(Some(changes))
}
