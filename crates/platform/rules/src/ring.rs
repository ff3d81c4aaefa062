//! The ring of a webcast: the clerk sends items in, takes bids, and sells or passes.
//!
//! At most one item is in the ring. [`Item::ring`] holds the item's side and [`Auction::in_ring`] the auction's side;
//! one [`RingDecision`] changes both, and the caller commits it with the versions that the clerk saw. Commands that
//! look back at earlier bids, such as undo, receive the item's log of bids.

mod asking_price;
mod bids;
mod command;
mod commission;
mod internet_bids;
mod large_jump;
mod legal;
mod next_item;
mod pause;
mod reopen;
mod retract;
mod sell;
mod send;
mod undo;
mod waiting;

pub use asking_price::lowered_bids;
pub use command::{Confirmed, ConfirmedPrice, RingCommand, RingDecision};
pub use commission::{Commission, commission_amount, commissions, next_commission};
pub use internet_bids::PENDING_MAX;
pub use large_jump::{unconfirmed_price_max, unconfirmed_price_min};
pub use legal::{RingAction, RingFacts, legal_actions};
pub use next_item::next_to_send;
pub use pause::WARNINGS_MAX;
pub use send::begin;
pub(crate) use undo::previous_standing_bid;
pub use waiting::{WaitingBid, highest_waiting_bid};

use jiff::Timestamp;

use self::internet_bids::drop_pending;
use crate::bid::{Offer, next_price};
use crate::item::{InRing, require_reason};
use crate::{Auction, AuctionChange, AuctionKind, BidSource, Bidder, Cause, Item, ItemChange, Rejection, RingStatus};

/// Decides a command on `item`: the item to send, to offer again or to reopen, and otherwise the item in the ring.
///
/// Errors: `item_not_in_auction`, `wrong_auction_kind`, `auction_not_live`, `ring_occupied`, `item_not_live`,
/// `not_in_ring`, `ring_paused`, `not_paused`, `no_standing_bid`, `bid_too_low`, `bid_too_high`, `too_many_bids`,
/// `field_invalid`, `reason_required`, `illegal_transition`, `not_last_item`, `bid_log_incomplete`, `bid_not_found`,
/// `bid_struck`, `nothing_to_undo`, `not_pending`, `too_many_pending`, `already_leading`, `no_commission`,
/// `commission_exceeded`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`,
/// `reserve_not_met`, `higher_bid_waits`, `large_jump`, `cancels_bids`.
pub fn decide(auction: &Auction, item: &Item, command: RingCommand, now: Timestamp) -> Result<RingDecision, Rejection> {
    item.require_in(auction)?;
    auction.require_kind(AuctionKind::Webcast)?;
    auction.require_live()?;
    let offer = |bid, bidder: &Bidder, amount, source| Offer::of(bidder, bid, amount, source, now);
    let changes = match command {
        RingCommand::Send { is_next } => return send::send(auction, item, is_next, now),
        RingCommand::Reopen { reason } => return reopen::reopen(auction, item, require_reason(reason)?, now),
        RingCommand::Sell { confirmed, log } => return sell::sell(auction, item, (confirmed, &log), now),
        RingCommand::Pass { over_waiting_bid, log } => {
            return sell::pass(auction, item, (over_waiting_bid, &log), now);
        }
        RingCommand::Remove => return send::remove(auction, item),
        RingCommand::OfferAgain => reopen::offer_again(auction, item, now),
        RingCommand::SetAskingPrice { amount, confirmed, log } => {
            asking_price::set(auction, item, (amount, confirmed), &log)
        }
        RingCommand::Undo { reason, log } => undo::undo(auction, item, require_reason(reason)?, &log),
        RingCommand::Retract { bid, reason, log } => {
            retract::retract(auction, item, bid, require_reason(reason)?, &log)
        }
        RingCommand::RoomBid { bid, bidder, amount, large_jump } => {
            bids::in_room(auction, item, &bidder, (&offer(bid, &bidder, amount, BidSource::Room), large_jump))
        }
        RingCommand::OpenRoomBid { bid, amount, large_jump } => {
            // The clerk does not know the bidder's paddle, so no registration is looked up.
            let unnamed = Bidder::vouched_for("");
            bids::enter(auction, item, (&offer(bid, &unnamed, amount, BidSource::Room), large_jump))
        }
        RingCommand::RelayedBid { bid, bidder, amount, large_jump } => {
            bids::relayed(auction, item, &bidder, (&offer(bid, &bidder, amount, BidSource::Internet), large_jump))
        }
        RingCommand::InternetBid { bid, bidder, amount } => {
            internet_bids::place(auction, item, &bidder, &offer(bid, &bidder, amount, BidSource::Internet))
        }
        RingCommand::AcceptPending { bid, bidder } => internet_bids::accept(auction, item, bid, &bidder, now),
        RingCommand::CommissionBid { bid, bidder, log } => {
            let offer = |amount| offer(bid, &bidder, amount, BidSource::Commission);
            commission::place(auction, item, &bidder, offer, &log)
        }
        RingCommand::FairWarning => pause::fair_warning(auction, item),
        RingCommand::Pause => pause::pause(auction, item),
        RingCommand::Resume => pause::resume(auction, item),
    };
    Ok(RingDecision { item: changes?, auction: Vec::new() })
}

/// The item is in the ring, in this state.
fn in_ring(ring: InRing, cause: Cause) -> ItemChange {
    ItemChange::RingChanged { ring: RingStatus::InRing(ring), cause }
}

/// The item enters the ring, at the next price above its standing bid, or at its opening bid.
fn enter(auction: &Auction, item: &Item, cause: Cause) -> ItemChange {
    in_ring(InRing { asking_price: next_price(auction, item), paused: false, warnings: 0, lowered: false }, cause)
}

/// The ring holds the item. The place moves to `position` if there is one.
fn occupy(item: &Item, position: Option<i64>, cause: Cause) -> AuctionChange {
    AuctionChange::RingChanged { item: Some(item.uuid), position, cause }
}

/// The item leaves the ring by `changes`, and its pending internet bids are dropped.
fn empty(item: &Item, mut changes: Vec<ItemChange>, cause: Cause) -> RingDecision {
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
