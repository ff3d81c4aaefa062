//! A bidder retracts a bid. If it stood, nothing stands afterwards, because the bidders who were outbid are free.

use uuid::Uuid;

use super::require_in_ring;
use super::undo::strike_and_restore;
use crate::{Auction, BidLog, Item, ItemChange, Rejection, StrikeReason};

/// Strikes the bid; if it stands, the asking price is again the one that it answered.
pub(super) fn retract(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    reason: String,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    let record = log.standing(item, bid)?;
    if record.is_standing_on(item) {
        return Ok(strike_and_restore(item, ring, record, StrikeReason::Retracted, reason, None));
    }
    Ok(vec![record.strike(item, StrikeReason::Retracted, Some(reason))])
}
