//! What may become of an item, outside of the ring (decisions, sections 2 and 6).

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::{bidding, fields};
use crate::bid::Offer;
use crate::transitions::{ItemActor, ItemFacts, ItemTransition, find_item_transition};
use crate::{Auction, AuctionKind, BidLog, BidSource, Bidder, Cause, Item, ItemChange, Rejection, RingStatus};

/// Characters of a reason, at most.
pub const REASON_CHARS_MAX: usize = 500;

/// What somebody wants of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemCommand {
    /// A call makes it, as DRAFT, or as LIVE in a LIVE auction. Its `sequence` is 0 before.
    Create {
        /// First status.
        status: ItemStatus,
    },
    /// A catalogue import makes it; otherwise as [`ItemCommand::Create`].
    Import {
        /// First status.
        status: ItemStatus,
    },
    /// An administrator changes its status. From SOLD and PASSED to LIVE it is a correction.
    ChangeStatus {
        /// Status wanted.
        to: ItemStatus,
        /// Why; needed by suspensions, their end, and corrections.
        reason: Option<String>,
    },
    /// Its auction goes LIVE and takes it along. A DRAFT item passes through PREVIEW.
    GoLive,
    /// The timer has seen its effective end.
    ReachEnd,
    /// Somebody bids in a timed auction.
    PlaceBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids.
        bidder: Bidder,
        /// How far the bidder goes, minor units: the platform bids for them up to it, and never more than is needed.
        amount: i64,
    },
    /// An absentee leaves a maximum for the clerk, before a webcast is live. A later one takes its place.
    PlaceAbsenteeBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Who bids.
        bidder: Bidder,
        /// How far the clerk may go, minor units.
        maximum: i64,
    },
    /// Somebody buys an item of a timed auction at its buy-now price.
    BuyNow {
        /// UUID of the bid that it is recorded as.
        bid: Uuid,
        /// Who buys.
        bidder: Bidder,
    },
    /// An administrator cancels a bid.
    CancelBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Why.
        reason: String,
        /// The item's bids.
        log: BidLog,
    },
    /// An administrator puts the end of an item of a timed auction off.
    MoveEnd {
        /// The later end.
        to: Timestamp,
        /// Why.
        reason: String,
    },
    /// The timer has seen its effective end, which passed while nobody could see to it.
    ExtendEndAfterDowntime {
        /// The end that it gets instead.
        to: Timestamp,
    },
    /// A clerk or an administrator takes a sale or pass back: the item is LIVE again.
    Correct {
        /// Why.
        reason: String,
    },
    /// Its auction is reconciled: a PASSED item is UNSOLD.
    Reconcile,
}

/// Decides a command on an item.
///
/// Errors: `item_not_in_auction`, `sandbox_mismatch`, `illegal_transition`, `field_invalid`, and those of the guards in
/// [`ITEM_TRANSITIONS`](crate::transitions::ITEM_TRANSITIONS); for a bid `wrong_auction_kind`, `auction_not_live`,
/// `item_not_live`, `auction_not_started`, `item_ended`, `bid_too_low`, `bid_too_high`, `maximum_not_raised`,
/// `too_many_bids`, `bidder_not_approved`, `bidder_suspended`, `vendor_barred`, `spending_limit_reached`, `pre_bidding_over`; for buying
/// `no_buy_now`, `buy_now_over`; for a cancellation `bid_not_found`, `bid_struck`, `bid_log_incomplete`, `item_in_ring`,
/// `reason_required`; for an end `item_not_live`, which a timer that comes late or twice takes for done, or
/// `end_not_later`.
pub fn decide(
    auction: &Auction,
    item: &Item,
    command: ItemCommand,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    item.require_in(auction)?;
    match command {
        ItemCommand::Create { status } => create(auction, item, ItemActor::Creation, status, now),
        ItemCommand::Import { status } => create(auction, item, ItemActor::Import, status, now),
        ItemCommand::ChangeStatus { to, reason } => {
            change_status(auction, item, &[ItemActor::Administrator, ItemActor::Correction], to, reason, now)
        }
        ItemCommand::Correct { reason } => {
            change_status(auction, item, &[ItemActor::Correction], ItemStatus::Live, Some(reason), now)
        }
        ItemCommand::GoLive => go_live(auction, item, now),
        ItemCommand::ReachEnd => {
            item.require_live()?;
            let facts = ItemFacts { auction, item, reason: None, now };
            Ok(find_item_transition(&facts, &[ItemActor::End], None)?.changes(auction, item, None))
        }
        ItemCommand::ExtendEndAfterDowntime { to } => extend_end_after_downtime(auction, item, to, now),
        ItemCommand::Reconcile => {
            let facts = ItemFacts { auction, item, reason: None, now };
            let row = find_item_transition(&facts, &[ItemActor::Reconciliation], Some(ItemStatus::Unsold))?;
            Ok(row.changes(auction, item, None))
        }
        ItemCommand::PlaceBid { bid, bidder, amount } => {
            let offer = Offer::of(&bidder, bid, amount, BidSource::Internet, now);
            bidding::place(auction, item, &bidder, &offer)
        }
        ItemCommand::PlaceAbsenteeBid { bid, bidder, maximum } => {
            let offer = Offer::of(&bidder, bid, maximum, BidSource::Absentee, now);
            bidding::place_absentee(auction, item, &bidder, &offer)
        }
        ItemCommand::BuyNow { bid, bidder } => bidding::buy_now(auction, item, bid, &bidder, now),
        ItemCommand::CancelBid { bid, reason, log } => {
            bidding::cancel(auction, item, bid, require_reason(reason)?, &log)
        }
        ItemCommand::MoveEnd { to, reason } => move_end(auction, item, to, require_reason(reason)?, now),
    }
}

fn create(
    auction: &Auction,
    item: &Item,
    by: ItemActor,
    status: ItemStatus,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    fields::require_valid(item)?;
    fields::require_valid_in_auction(auction, item)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    Ok(find_item_transition(&facts, &[by], Some(status))?.changes(auction, item, None))
}

fn change_status(
    auction: &Auction,
    item: &Item,
    by: &[ItemActor],
    to: ItemStatus,
    reason: Option<String>,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    let reason = clean_reason(reason)?;
    let facts = ItemFacts { auction, item, reason: reason.as_deref(), now };
    let row = find_item_transition(&facts, by, Some(to))?;
    Ok(row.changes(auction, item, reason))
}

/// A reason without the blanks around it; none when there is nothing else.
fn clean_reason(reason: Option<String>) -> Result<Option<String>, Rejection> {
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let is_control = |char: char| char.is_control() && char != '\n';
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON_CHARS_MAX || reason.contains(is_control)) {
        let problem = "must have at most 500 characters, none of them a control character";
        return Err(Rejection::FieldInvalid { field: "reason", problem });
    }
    Ok(reason)
}

/// A reason that says something.
pub(crate) fn require_reason(reason: String) -> Result<String, Rejection> {
    clean_reason(Some(reason))?.ok_or(Rejection::ReasonRequired)
}

/// Later than before, and later than now: an end only moves forward.
fn move_end(
    auction: &Auction,
    item: &Item,
    to: Timestamp,
    reason: String,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    auction.require_open()?;
    let is_later = item.effective_end_time.is_some_and(|end| to > end) && to > now;
    is_later.then(|| vec![ItemChange::EndMoved { end: to, reason }]).ok_or(Rejection::EndNotLater)
}

/// As an end that is reached, but for a later one.
fn extend_end_after_downtime(
    auction: &Auction,
    item: &Item,
    to: Timestamp,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    item.require_live()?;
    if item.effective_end_time.is_none_or(|end| end > now) {
        return Err(Rejection::EndNotReached);
    }
    (to > now).then(|| vec![ItemChange::EndHeld { end: to }]).ok_or(Rejection::EndNotLater)
}

fn go_live(auction: &Auction, item: &Item, now: Timestamp) -> Result<Vec<ItemChange>, Rejection> {
    let step = |item: &Item, to| {
        let facts = ItemFacts { auction, item, reason: None, now };
        find_item_transition(&facts, &[ItemActor::AuctionGoesLive], Some(to))
            .map(|row| row.changes(auction, item, None))
    };
    if item.current() != Some(ItemStatus::Draft) {
        return step(item, ItemStatus::Live);
    }
    let mut changes = step(item, ItemStatus::Preview)?;
    let mut previewed = item.clone();
    changes.iter().for_each(|change| previewed.apply(change));
    changes.extend(step(&previewed, ItemStatus::Live)?);
    Ok(changes)
}

impl Item {
    pub(crate) fn require_in(&self, auction: &Auction) -> Result<(), Rejection> {
        if self.auction != auction.uuid {
            return Err(Rejection::ItemNotInAuction);
        }
        if self.sale_mode() == auction.sale_mode() { Ok(()) } else { Err(Rejection::SandboxMismatch) }
    }

    pub(crate) fn require_live(&self) -> Result<(), Rejection> {
        match self.status {
            ItemStatus::Live => Ok(()),
            status => Err(Rejection::ItemNotLive { status: status.name() }),
        }
    }
}

impl ItemTransition {
    /// The changes of an item that follows this row: its status, and what always comes with it. An item that comes LIVE
    /// or into being in a timed auction gets its end; one that is back from the ring can be offered again; one that is
    /// back from a withdrawal begins without the bids from before.
    pub(crate) fn changes(&self, auction: &Auction, item: &Item, reason: Option<String>) -> Vec<ItemChange> {
        let announced = self.announced.applies_to(item);
        let mut changes = Vec::with_capacity(2);
        if self.from.is_none() || self.to == ItemStatus::Live {
            changes.extend(item.end_to_plan(auction).map(|end| ItemChange::EndPlanned { end }));
        }
        changes.push(ItemChange::StatusChanged { from: self.from, to: self.to, cause: self.cause, announced, reason });
        if item.ring == RingStatus::Done && matches!(self.to, ItemStatus::Live | ItemStatus::Draft) {
            changes.push(ItemChange::RingChanged { ring: RingStatus::Waiting, cause: self.cause });
        }
        if self.cause == Cause::Reinstated && item.has_bids() {
            changes.push(ItemChange::BidsLapsed { through: item.bid_count, cause: self.cause });
        }
        changes
    }
}

#[cfg(test)]
mod tests;
