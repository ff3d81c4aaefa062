//! Which commands the clerk can give now: what a console offers. It says of each command what [`super::decide`] would, before
//! its details are known.

use contract::AuctionStatus;
use jiff::Timestamp;

use super::{commissions, reopen, require_in_ring, require_running};
use crate::bid_log::BIDS_MAX;
use crate::{AMOUNT_MAX, Auction, AuctionKind, BidLog, Item, WebcastPhase};

/// A clerk's command without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RingAction {
    /// Begin the live phase.
    Begin,
    /// Send an item.
    Send,
    /// Set the asking price.
    SetAskingPrice,
    /// Take a bid in the room, or one that came by another way.
    Bid,
    /// Accept an internet bid that waits.
    Accept,
    /// Bid for an absentee.
    CommissionBid,
    /// Take the last bid back.
    Undo,
    /// Enter that a bidder takes a bid back.
    Retract,
    /// Give fair warning.
    FairWarning,
    /// Pause bidding.
    Pause,
    /// Let bidding go on.
    Resume,
    /// Sell.
    Sell,
    /// Pass.
    Pass,
    /// Take the item out of the ring, undecided.
    Remove,
    /// Offer a passed item again.
    OfferAgain,
    /// Reopen the item that left the ring last.
    Reopen,
}

impl RingAction {
    /// Stable word, as APIs carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Send => "send",
            Self::SetAskingPrice => "asking-price",
            Self::Bid => "bid",
            Self::Accept => "accept",
            Self::CommissionBid => "commission-bid",
            Self::Undo => "undo",
            Self::Retract => "retract",
            Self::FairWarning => "fair-warning",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Sell => "sell",
            Self::Pass => "pass",
            Self::Remove => "remove",
            Self::OfferAgain => "offer-again",
            Self::Reopen => "reopen",
        }
    }
}

/// What the answer depends on.
#[derive(Debug, Clone, Copy)]
pub struct RingFacts<'a> {
    /// The webcast.
    pub auction: &'a Auction,
    /// The item in the ring, with its bids.
    pub in_ring: Option<(&'a Item, &'a BidLog)>,
    /// The item that left the ring last, while no other was sent.
    pub last: Option<&'a Item>,
    /// An item waits to be sent.
    pub any_waits: bool,
    /// An item is PASSED.
    pub any_passed: bool,
    /// The time.
    pub now: Timestamp,
}

/// The commands that some details would make possible, in a console's order: sending, bidding, correcting, deciding.
pub fn legal_actions(facts: &RingFacts<'_>) -> Vec<RingAction> {
    let auction = facts.auction;
    if auction.kind != AuctionKind::Webcast || auction.status != AuctionStatus::Live {
        return Vec::new();
    }
    let mut legal = Vec::new();
    let mut push_if = |is_legal: bool, action| {
        if is_legal {
            legal.push(action);
        }
    };
    let is_empty = auction.in_ring.is_none();
    push_if(auction.phase == WebcastPhase::PreBidding, RingAction::Begin);
    push_if(is_empty && (facts.any_waits || facts.any_passed), RingAction::Send);
    if let Some((item, log)) = facts.in_ring
        && let Ok(ring) = require_in_ring(auction, item)
    {
        let is_running = require_running(auction, item).is_ok();
        let takes_bids = is_running && ring.asking_price <= AMOUNT_MAX && item.bid_count < BIDS_MAX;
        let reaches = |amount: i64| amount >= ring.asking_price;
        let left = commissions(item, log).unwrap_or_default();
        let counts = log
            .of_item(item)
            .is_ok_and(|bids| bids.iter().any(|bid| bid.stands() && !item.is_over(bid.number, bid.source)));
        push_if(true, RingAction::SetAskingPrice);
        push_if(takes_bids, RingAction::Bid);
        push_if(takes_bids && item.pending.iter().any(|pending| reaches(pending.amount)), RingAction::Accept);
        let leads = |bidder: &str| item.standing.as_ref().is_some_and(|standing| standing.bidder == bidder);
        let may_go_on = |left: &super::Commission| reaches(left.maximum.reveal()) && !leads(&left.bidder);
        push_if(takes_bids && left.iter().any(may_go_on), RingAction::CommissionBid);
        push_if(item.standing.is_some(), RingAction::Undo);
        push_if(counts, RingAction::Retract);
        push_if(is_running, RingAction::FairWarning);
        push_if(is_running, RingAction::Pause);
        push_if(ring.paused, RingAction::Resume);
        push_if(is_running && item.standing.is_some(), RingAction::Sell);
        push_if(is_running, RingAction::Pass);
        push_if(true, RingAction::Remove);
    }
    push_if(facts.any_passed, RingAction::OfferAgain);
    let can_reopen = |item| reopen(auction, item, "for some reason".to_owned(), facts.now).is_ok();
    push_if(is_empty && facts.last.is_some_and(can_reopen), RingAction::Reopen);
    legal
}

#[cfg(test)]
mod tests;
