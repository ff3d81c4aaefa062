//! What may become of an item, outside of the ring (decisions, sections 2 and 6).

use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use crate::bid::{AMOUNT_MAX, Offer, accept};
use crate::transitions::{ItemBy, ItemFacts, ItemTransition, follow_item};
use crate::{Auction, AuctionKind, BidSource, Item, ItemChange, Rejection, RingPlace};

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
        /// Who bids, as the caller names bidders; 1 to 64 characters.
        bidder: String,
        /// Minor units.
        amount: i64,
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
/// Errors: `item_not_in_auction`, `illegal_transition`, `field_invalid`, and those of the guards in
/// [`ITEM_TRANSITIONS`](crate::transitions::ITEM_TRANSITIONS); for a bid `wrong_auction_kind`, `auction_not_live`,
/// `item_not_live`, `auction_not_started`, `item_ended`, `bid_too_low`, `bid_too_high`; for an end `item_not_live`,
/// which a timer that comes late or twice takes for done.
pub fn decide(
    auction: &Auction,
    item: &Item,
    command: ItemCommand,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    item.require_in(auction)?;
    match command {
        ItemCommand::Create { status } => create(auction, item, ItemBy::Creation, status, now),
        ItemCommand::Import { status } => create(auction, item, ItemBy::Import, status, now),
        ItemCommand::ChangeStatus { to, reason } => {
            change_status(auction, item, &[ItemBy::Administrator, ItemBy::Correction], to, reason, now)
        }
        ItemCommand::Correct { reason } => {
            change_status(auction, item, &[ItemBy::Correction], ItemStatus::Live, Some(reason), now)
        }
        ItemCommand::GoLive => go_live(auction, item, now),
        ItemCommand::ReachEnd => {
            item.require_live()?;
            let facts = ItemFacts { auction, item, reason: None, now };
            Ok(follow_item(&facts, &[ItemBy::End], None)?.changes(auction, item, None))
        }
        ItemCommand::Reconcile => {
            let facts = ItemFacts { auction, item, reason: None, now };
            let row = follow_item(&facts, &[ItemBy::Reconciliation], Some(ItemStatus::Unsold))?;
            Ok(row.changes(auction, item, None))
        }
        ItemCommand::PlaceBid { bid, bidder, amount } => {
            open_for_bids(auction, item, now)?;
            let offer = Offer { bid, bidder, amount, source: BidSource::Internet };
            Ok(vec![accept(auction, item, offer, now)?])
        }
    }
}

fn create(
    auction: &Auction,
    item: &Item,
    by: ItemBy,
    status: ItemStatus,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    valid(item)?;
    let facts = ItemFacts { auction, item, reason: None, now };
    Ok(follow_item(&facts, &[by], Some(status))?.changes(auction, item, None))
}

fn change_status(
    auction: &Auction,
    item: &Item,
    by: &[ItemBy],
    to: ItemStatus,
    reason: Option<String>,
    now: Timestamp,
) -> Result<Vec<ItemChange>, Rejection> {
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let is_control = |char: char| char.is_control() && char != '\n';
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > REASON_CHARS_MAX || reason.contains(is_control)) {
        let problem = "must have at most 500 characters, none of them a control character";
        return Err(Rejection::FieldInvalid { field: "reason", problem });
    }
    let facts = ItemFacts { auction, item, reason: reason.as_deref(), now };
    let row = follow_item(&facts, by, Some(to))?;
    Ok(row.changes(auction, item, reason))
}

fn go_live(auction: &Auction, item: &Item, now: Timestamp) -> Result<Vec<ItemChange>, Rejection> {
    let step = |item: &Item, to| {
        let facts = ItemFacts { auction, item, reason: None, now };
        follow_item(&facts, &[ItemBy::AuctionGoesLive], Some(to)).map(|row| row.changes(auction, item, None))
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

fn open_for_bids(auction: &Auction, item: &Item, now: Timestamp) -> Result<(), Rejection> {
    auction.require_kind(AuctionKind::Timed)?;
    auction.require_live()?;
    item.require_live()?;
    match auction.starts_at {
        Some(starts_at) if now < starts_at => return Err(Rejection::AuctionNotStarted { starts_at }),
        _ => {}
    }
    match item.effective_end_time {
        Some(ended_at) if now >= ended_at => Err(Rejection::ItemEnded { ended_at }),
        _ => Ok(()),
    }
}

fn valid(item: &Item) -> Result<(), Rejection> {
    let wrong = |field, problem| Err(Rejection::FieldInvalid { field, problem });
    let amount = |amount: i64| (0..=AMOUNT_MAX).contains(&amount);
    let out_of_range = "must be between 0 and 1,000,000,000,000,000 minor units";
    if item.lot_number.trim().is_empty() {
        return wrong("lotNumber", "must not be empty");
    }
    if item.position < 0 {
        return wrong("position", "must not be negative");
    }
    if !amount(item.opening_bid) {
        return wrong("openingBid", out_of_range);
    }
    if !item.reserve.is_none_or(amount) {
        return wrong("reserve", out_of_range);
    }
    if !item.low_estimate.is_none_or(amount) {
        return wrong("lowEstimate", out_of_range);
    }
    if !item.high_estimate.is_none_or(amount) {
        return wrong("highEstimate", out_of_range);
    }
    if item.low_estimate.zip(item.high_estimate).is_some_and(|(low, high)| low > high) {
        return wrong("highEstimate", "must not be below the low estimate");
    }
    if !item.fixed_increment.is_none_or(|increment| (1..=AMOUNT_MAX).contains(&increment)) {
        return wrong("fixedIncrement", "must be between 1 and 1,000,000,000,000,000 minor units");
    }
    Ok(())
}

impl Item {
    pub(crate) fn require_in(&self, auction: &Auction) -> Result<(), Rejection> {
        if self.auction == auction.uuid { Ok(()) } else { Err(Rejection::ItemNotInAuction) }
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
    /// or into being in a timed auction gets its end; one that is back from the ring can be offered again.
    pub(crate) fn changes(&self, auction: &Auction, item: &Item, reason: Option<String>) -> Vec<ItemChange> {
        let announced = self.announced.holds_for(item);
        let mut changes = Vec::with_capacity(2);
        if self.from.is_none() || self.to == ItemStatus::Live {
            changes.extend(item.end_to_plan(auction).map(|end| ItemChange::EndPlanned { end }));
        }
        changes.push(ItemChange::StatusChanged { from: self.from, to: self.to, cause: self.cause, announced, reason });
        if item.ring == RingPlace::Done && matches!(self.to, ItemStatus::Live | ItemStatus::Draft) {
            changes.push(ItemChange::RingChanged { ring: RingPlace::Waiting });
        }
        changes
    }
}

#[cfg(test)]
mod tests;
