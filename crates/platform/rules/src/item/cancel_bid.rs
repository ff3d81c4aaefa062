//! An administrator cancels a bid: the price becomes what it would be without that bid.

use contract::ItemStatus;
use uuid::Uuid;

use crate::bid_log::BidLog;
use crate::proxy::Pricing;
use crate::ring::previous_standing_bid;
use crate::{Auction, AuctionKind, Cause, Item, ItemChange, Rejection, StrikeReason};

/// Strikes the bid. In a timed auction the other bids are replayed; in a webcast the bid that stood before stands
/// again.
pub(super) fn cancel(
    auction: &Auction,
    item: &Item,
    bid: Uuid,
    reason: String,
    log: &BidLog,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_open()?;
    if !matches!(item.status, ItemStatus::Live | ItemStatus::Suspended) {
        return Err(Rejection::ItemNotLive { status: item.status.name() });
    }
    if item.in_ring().is_some() {
        return Err(Rejection::ItemInRing);
    }
    let record = log.standing(item, bid)?;
    let standing = match auction.kind {
        AuctionKind::Timed => {
            let others = log.of_item(item)?.iter().filter(|other| other.bid != bid);
            Pricing::of(auction, item).replay(others)
        }
        AuctionKind::Webcast if record.is_standing_on(item) => previous_standing_bid(item, record, log),
        AuctionKind::Webcast => item.standing.clone(),
    };
    let mut changes = vec![record.strike(item, StrikeReason::Cancelled, Some(reason))];
    if standing != item.standing {
        changes.push(ItemChange::StandingChanged { standing, cause: Cause::BidCancelled });
    }
    Ok(changes)
}
