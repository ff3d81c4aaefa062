//! Which commands are legal now: a clerk's console offers these. A command is legal when [`super::decide`] accepts it
//! with at least one choice of its details.

use contract::AuctionStatus;
use jiff::Timestamp;

use super::reopen::reopen;
use super::{commissions, lowered_bids, next_commission, require_in_ring, require_running};
use crate::bid_log::BIDS_MAX;
use crate::{AMOUNT_MAX, Auction, AuctionKind, BidLog, Item, WebcastPhase};

/// A command of the clerk without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RingAction {
    /// Begin the live phase.
    Begin,
    /// Send an item.
    Send,
    /// Set the asking price.
    SetAskingPrice,
    /// Enter a bid made in the room, or a relayed internet bid.
    Bid,
    /// Accept a pending internet bid.
    Accept,
    /// Bid for an absentee.
    CommissionBid,
    /// Undo the last bid, or bring back the bids that a lowered asking price struck.
    Undo,
    /// Enter that a bidder retracts a bid.
    Retract,
    /// Give fair warning.
    FairWarning,
    /// Pause bidding.
    Pause,
    /// Resume bidding.
    Resume,
    /// Sell.
    Sell,
    /// Pass.
    Pass,
    /// Take the item out of the ring, neither sold nor passed.
    Remove,
    /// Offer a passed item again.
    OfferAgain,
    /// Reopen the lot that was sold or passed last.
    Reopen,
}

impl RingAction {
    /// Stable name in the APIs.
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

/// The facts that decide which commands are legal.
#[derive(Debug, Clone, Copy)]
pub struct RingFacts<'a> {
    /// The webcast.
    pub auction: &'a Auction,
    /// The item in the ring, with its bids.
    pub in_ring: Option<(&'a Item, &'a BidLog)>,
    /// The item that was sold or passed last, while no other item was sent.
    pub last: Option<&'a Item>,
    /// True when an item waits to be sent.
    pub any_waits: bool,
    /// True when an item is PASSED.
    pub any_passed: bool,
    /// The time.
    pub now: Timestamp,
}

/// The legal commands, in the order of a console: sending, bidding, correcting, deciding.
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
        let commissions = commissions(item, log).unwrap_or_default();
        let counts = log
            .of_item(item)
            .is_ok_and(|bids| bids.iter().any(|bid| bid.stands() && !item.is_over(bid.number, bid.source)));
        push_if(true, RingAction::SetAskingPrice);
        push_if(takes_bids, RingAction::Bid);
        push_if(takes_bids && item.pending.iter().any(|pending| reaches(pending.amount)), RingAction::Accept);
        push_if(takes_bids && next_commission(item, &commissions).is_some(), RingAction::CommissionBid);
        let is_lowered = lowered_bids(item, log).is_ok_and(|struck| !struck.is_empty());
        push_if(item.standing.is_some() || is_lowered, RingAction::Undo);
        push_if(counts, RingAction::Retract);
        push_if(is_running, RingAction::FairWarning);
        push_if(is_running, RingAction::Pause);
        push_if(ring.paused, RingAction::Resume);
        push_if(is_running && item.standing.is_some(), RingAction::Sell);
        push_if(is_running, RingAction::Pass);
        push_if(true, RingAction::Remove);
    }
    push_if(facts.any_passed, RingAction::OfferAgain);
    let can_reopen = |item| reopen(auction, item, "legal".to_owned(), facts.now).is_ok();
    push_if(is_empty && facts.last.is_some_and(can_reopen), RingAction::Reopen);
    legal
}

#[cfg(test)]
mod tests;
