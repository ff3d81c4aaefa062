//! The live phase begins, and items enter and leave the ring without a decision.

use contract::ItemStatus;
use jiff::Timestamp;

use super::reopen::offer_again;
use super::{RingDecision, empty, enter, occupy, require_empty, require_in_ring};
use crate::{Auction, AuctionChange, AuctionKind, Cause, Item, ItemChange, Rejection, RingStatus, WebcastPhase};

/// Begins the live phase. Sending the first item begins it as well.
///
/// Errors: `wrong_auction_kind`, `auction_not_live`, `pre_bidding_over`.
pub fn begin(auction: &Auction) -> Result<Vec<AuctionChange>, Rejection> {
    auction.require_kind(AuctionKind::Webcast)?;
    auction.require_live()?;
    match auction.phase {
        WebcastPhase::PreBidding => Ok(vec![live_phase()]),
        WebcastPhase::Live => Err(Rejection::PreBiddingOver),
    }
}

fn live_phase() -> AuctionChange {
    AuctionChange::PhaseChanged { phase: WebcastPhase::Live, cause: Cause::PreBiddingEnded }
}

/// Sends a LIVE or PASSED item into the empty ring. Only the item that is next moves the place, and never backwards.
pub(super) fn send(auction: &Auction, item: &Item, is_next: bool, now: Timestamp) -> Result<RingDecision, Rejection> {
    require_empty(auction)?;
    let mut changes = match item.status {
        ItemStatus::Passed => offer_again(auction, item, now)?,
        _ => item.require_live().map(|()| Vec::new())?,
    };
    changes.push(enter(auction, item, Cause::SentToRing));
    let mut decision = RingDecision { item: changes, auction: Vec::new() };
    if auction.phase == WebcastPhase::PreBidding {
        decision.auction.push(live_phase());
    }
    let position = is_next.then(|| auction.ring_position.unwrap_or(i64::MIN).max(item.position));
    decision.auction.push(occupy(item, position, Cause::SentToRing));
    Ok(decision)
}

/// Takes the item out of the ring: it waits with its bids.
pub(super) fn remove(auction: &Auction, item: &Item) -> Result<RingDecision, Rejection> {
    require_in_ring(auction, item)?;
    let cause = Cause::RemovedFromRing;
    Ok(empty(item, vec![ItemChange::RingChanged { ring: RingStatus::WaitingAgain, cause }], cause))
}
