//! The ring of a webcast: items are sent in, bid on, sold or passed (decisions, section 7).
//!
//! One item is in the ring at a time. The item's place is in [`Item::ring`], the auction's side in
//! [`Auction::in_ring`]; both move together in one [`RingDecision`], to be committed together with the versions that the
//! clerk saw. Commands that look back are given the item's log of bids as a fact.

mod bids;
mod legal;
mod order;
mod undo;

pub use bids::{Commission, PENDING_MAX, commissions};
pub use legal::{RingAction, RingFacts, legal_actions};
pub use order::next_to_send;
pub(crate) use undo::previous_standing_bid;

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use self::bids::drop_pending;
use crate::bid::{Offer, next_price};
use crate::item::{BeforePass, InRing, require_reason};
use crate::transitions::{ItemActor, ItemFacts, find_item_transition};
use crate::{
    Auction, AuctionChange, AuctionKind, BidLog, BidSource, Bidder, Cause, Item, ItemChange, Rejection, RingStatus,
    WebcastPhase,
};

/// Fair warnings that are counted.
pub const WARNINGS_MAX: u32 = 9;

/// What the clerk, or a bidder on the internet, wants of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingCommand {
    /// The item enters the empty ring. A PASSED one is offered again by it. The first one begins the live phase.
    Send,
    /// The clerk asks for another price.
    SetAskingPrice {
        /// Minor units; at least 1.
        amount: i64,
        /// The item's bids.
        log: BidLog,
    },
    /// Somebody in the room bids. If they are approved, and for how much, is the clerk's to know, who sees them; but a paddle
    /// that is a vendor's or was suspended does not bid there either.
    RoomBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids.
        bidder: Bidder,
        /// Minor units.
        amount: i64,
    },
    /// The clerk takes a bid that came over the internet by another way, such as another platform's.
    InternetBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids.
        bidder: Bidder,
        /// Minor units.
        amount: i64,
    },
    /// A bidder on the internet bids. It waits for the clerk, or is taken at once where the auction says so.
    OnlineBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids.
        bidder: Bidder,
        /// Minor units.
        amount: i64,
    },
    /// The clerk accepts an internet bid that waits.
    AcceptPending {
        /// UUID of the bid.
        bid: Uuid,
        /// Who made it, as registered now.
        bidder: Bidder,
    },
    /// The clerk bids for an absentee.
    CommissionBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who left the commission.
        bidder: Bidder,
        /// Minor units; at most what was left.
        amount: i64,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk takes the last bid back: what stood before stands again.
    Undo {
        /// Why.
        reason: String,
        /// The item's bids.
        log: BidLog,
    },
    /// A bidder takes a bid back; no earlier bid comes back.
    Retract {
        /// UUID of the bid.
        bid: Uuid,
        /// Why.
        reason: String,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk says that the hammer is about to fall.
    FairWarning,
    /// No bid is taken until the clerk resumes.
    Pause,
    /// Bids are taken again.
    Resume,
    /// The hammer falls: the item is sold to the standing bid, and the ring is empty.
    Sell,
    /// The item is not sold, the bids on it are over, and the ring is empty. What absentees left goes on.
    Pass,
    /// The item leaves the ring undecided, LIVE and waiting; bids on it stand.
    Remove,
    /// A PASSED item is LIVE and waits to be sent again; the ring may be occupied meanwhile.
    OfferAgain,
    /// The item that was sold or passed last comes back into the empty ring, with the bid that stood.
    Reopen {
        /// Why.
        reason: String,
    },
}

/// What becomes of an item and of its auction's ring; commit both or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RingDecision {
    /// Changes of the item.
    pub item: Vec<ItemChange>,
    /// Changes of the auction; empty when its ring stays as it is.
    pub auction: Vec<AuctionChange>,
}

/// Decides a command. `item` is the one that the command is about; for all but send, offer again and reopen that is the
/// one in the ring.
///
/// Errors: `item_not_in_auction`, `wrong_auction_kind`, `auction_not_live`, `ring_occupied`, `item_not_live`,
/// `not_in_ring`, `ring_paused`, `not_paused`, `no_standing_bid`, `bid_too_low`, `bid_too_high`, `too_many_bids`,
/// `field_invalid`, `reason_required`, `illegal_transition`, `not_last_item`, `bid_log_incomplete`, `bid_not_found`,
/// `bid_struck`, `nothing_to_undo`, `not_pending`, `too_many_pending`, `already_leading`, `no_commission`,
/// `commission_exceeded`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`.
pub fn decide(auction: &Auction, item: &Item, command: RingCommand, now: Timestamp) -> Result<RingDecision, Rejection> {
    item.require_in(auction)?;
    auction.require_kind(AuctionKind::Webcast)?;
    auction.require_live()?;
    let offer = |bid, bidder: &Bidder, amount, source| Offer::of(bidder, bid, amount, source, now);
    let changes = match command {
        RingCommand::Send => return send(auction, item, now),
        RingCommand::Reopen { reason } => return reopen(auction, item, require_reason(reason)?, now),
        RingCommand::Sell => return sell(auction, item, now),
        RingCommand::Pass => return pass(auction, item, now),
        RingCommand::Remove => return remove(auction, item),
        RingCommand::OfferAgain => offer_again(auction, item, now),
        RingCommand::SetAskingPrice { amount, log } => undo::set_asking_price(auction, item, amount, &log),
        RingCommand::Undo { reason, log } => undo::undo(auction, item, require_reason(reason)?, &log),
        RingCommand::Retract { bid, reason, log } => undo::retract(auction, item, bid, require_reason(reason)?, &log),
        RingCommand::RoomBid { bid, bidder, amount } => {
            bids::room(auction, item, &bidder, &offer(bid, &bidder, amount, BidSource::Room))
        }
        RingCommand::RelayedBid { bid, bidder, amount } => {
            bids::internet(auction, item, &bidder, &offer(bid, &bidder, amount, BidSource::Internet))
        }
        RingCommand::InternetBid { bid, bidder, amount } => {
            bids::online(auction, item, &bidder, &offer(bid, &bidder, amount, BidSource::Internet))
        }
        RingCommand::AcceptPending { bid, bidder } => bids::accept(auction, item, bid, &bidder, now),
        RingCommand::CommissionBid { bid, bidder, amount, log } => {
            bids::commission(auction, item, &bidder, &offer(bid, &bidder, amount, BidSource::Commission), &log)
        }
        RingCommand::FairWarning => require_running(auction, item).map(|ring| {
            let warnings = (ring.warnings + 1).min(WARNINGS_MAX);
            vec![offered(InRing { warnings, ..ring }, Cause::FairWarning)]
        }),
        RingCommand::Pause => {
            require_running(auction, item).map(|ring| vec![offered(InRing { paused: true, ..ring }, Cause::RingPaused)])
        }
        RingCommand::Resume => resume(auction, item),
    };
    Ok(RingDecision { item: changes?, auction: Vec::new() })
}

/// Ends the pre-bidding: absentees leave no more maxima, and the ring is open. Sending the first item does so too.
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

fn send(auction: &Auction, item: &Item, now: Timestamp) -> Result<RingDecision, Rejection> {
    require_empty(auction)?;
    let mut changes = match item.status {
        ItemStatus::Passed => offer_again(auction, item, now)?,
        _ => item.require_live().map(|()| Vec::new())?,
    };
    changes.push(entered(auction, item, Cause::SentToRing));
    let mut decision = RingDecision { item: changes, auction: Vec::new() };
    if auction.phase == WebcastPhase::PreBidding {
        decision.auction.push(live_phase());
    }
    decision.auction.push(occupied(item, Cause::SentToRing));
    Ok(decision)
}

fn reopen(auction: &Auction, item: &Item, reason: String, now: Timestamp) -> Result<RingDecision, Rejection> {
    require_empty(auction)?;
    if auction.last_in_ring != Some(item.uuid) {
        return Err(Rejection::NotLastItem);
    }
    let facts = ItemFacts { auction, item, reason: Some(&reason), now };
    let row = find_item_transition(&facts, &[ItemActor::Correction], Some(ItemStatus::Live))?;
    let mut changes = row.changes(auction, item, Some(reason));
    // It does not wait in between.
    changes.retain(|change| !matches!(change, ItemChange::RingChanged { .. }));
    let mut restored = item.clone();
    if let Some(BeforePass { passed, standing }) = item.before_pass.clone() {
        let change = ItemChange::BidsRestored { passed, standing };
        restored.apply(&change);
        changes.push(change);
    }
    changes.push(entered(auction, &restored, Cause::Reopened));
    Ok(RingDecision { item: changes, auction: vec![occupied(item, Cause::Reopened)] })
}

fn offer_again(auction: &Auction, item: &Item, now: Timestamp) -> Result<Vec<ItemChange>, Rejection> {
    if item.status != ItemStatus::Passed {
        return Err(Rejection::ItemNotPassed { status: item.status.name() });
    }
    let facts = ItemFacts { auction, item, reason: None, now };
    let row = find_item_transition(&facts, &[ItemActor::ClerkOffersAgain], Some(ItemStatus::Live))?;
    Ok(row.changes(auction, item, None))
}

fn sell(auction: &Auction, item: &Item, now: Timestamp) -> Result<RingDecision, Rejection> {
    require_running(auction, item)?;
    finish(auction, item, ItemActor::ClerkSells, ItemStatus::Sold, now)
}

/// Whoever bid is free, and may spend elsewhere what this bound: only who takes the pass back at once holds them to it.
fn pass(auction: &Auction, item: &Item, now: Timestamp) -> Result<RingDecision, Rejection> {
    require_running(auction, item)?;
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
    Ok(empty_ring(item, changes, row.cause))
}

fn remove(auction: &Auction, item: &Item) -> Result<RingDecision, Rejection> {
    require_in_ring(auction, item)?;
    let cause = Cause::RemovedFromRing;
    Ok(empty_ring(item, vec![ItemChange::RingChanged { ring: RingStatus::Waiting, cause }], cause))
}

fn resume(auction: &Auction, item: &Item) -> Result<Vec<ItemChange>, Rejection> {
    let ring = require_in_ring(auction, item)?;
    if !ring.paused {
        return Err(Rejection::NotPaused);
    }
    Ok(vec![offered(InRing { paused: false, ..ring }, Cause::RingResumed)])
}

fn offered(ring: InRing, cause: Cause) -> ItemChange {
    ItemChange::RingChanged { ring: RingStatus::InRing(ring), cause }
}

fn entered(auction: &Auction, item: &Item, cause: Cause) -> ItemChange {
    offered(InRing { asking_price: next_price(auction, item), paused: false, warnings: 0, lowered: false }, cause)
}

fn occupied(item: &Item, cause: Cause) -> AuctionChange {
    AuctionChange::RingChanged { item: Some(item.uuid), position: Some(item.position), cause }
}

fn empty_ring(item: &Item, mut changes: Vec<ItemChange>, cause: Cause) -> RingDecision {
    changes.extend(drop_pending(item, cause));
    RingDecision { item: changes, auction: vec![AuctionChange::RingChanged { item: None, position: None, cause }] }
}

fn require_empty(auction: &Auction) -> Result<(), Rejection> {
    auction.in_ring.map_or(Ok(()), |item| Err(Rejection::RingOccupied { item }))
}

fn require_in_ring(auction: &Auction, item: &Item) -> Result<InRing, Rejection> {
    item.in_ring().filter(|_| auction.in_ring == Some(item.uuid)).ok_or(Rejection::NotInRing)
}

/// In the ring, and not paused.
fn require_running(auction: &Auction, item: &Item) -> Result<InRing, Rejection> {
    let ring = require_in_ring(auction, item)?;
    if ring.paused { Err(Rejection::RingPaused) } else { Ok(ring) }
}

#[cfg(test)]
mod tests;
