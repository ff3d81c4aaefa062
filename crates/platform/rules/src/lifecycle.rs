//! The lifecycle of an auction: draft, preview, live, reconciliation, archived.
//!
//! A decision reads the items only as counts, so its cost does not grow with the number of lots. The caller decides the
//! items with [`crate::item::decide`]: [`ItemCommand::GoLive`](crate::ItemCommand::GoLive) for DRAFT and PREVIEW items
//! when the auction goes LIVE, [`ItemCommand::Reconcile`](crate::ItemCommand::Reconcile) for PASSED items when it is
//! reconciled, [`ItemCommand::Archive`](crate::ItemCommand::Archive) for all items when it is archived as a mistake.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;

use crate::item::clean_reason;
use crate::transitions::{AuctionFacts, find_auction_transition};
use crate::{Auction, AuctionChange, AuctionKind, EXTENSION_SECONDS_MAX, Item, Rejection, WebcastPhase};

/// A command on an auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuctionCommand {
    /// An API call creates the auction, as DRAFT, PREVIEW or LIVE. The given state has `sequence` 0.
    Create {
        /// First status.
        status: AuctionStatus,
    },
    /// An administrator changes the status.
    ChangeStatus {
        /// Requested status.
        to: AuctionStatus,
        /// Why; required to archive an auction that was never LIVE.
        reason: Option<String>,
        /// Sold items whose buyer is open when the auction is archived.
        buyers: OpenBuyers,
    },
}

impl AuctionCommand {
    /// An administrator requests this status, which no open buyer keeps from it.
    pub fn to_status(to: AuctionStatus, reason: Option<String>) -> Self {
        Self::ChangeStatus { to, reason, buyers: OpenBuyers::default() }
    }
}

/// Sold items whose buyer is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenBuyers {
    /// Number of these items.
    pub count: u64,
    /// The administrator confirmed that they stay without a buyer. The auction is rejected with `buyers_open` otherwise.
    pub confirmed: bool,
}

/// Number of items of an auction by status. Items created by the same call count with their new status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemCounts {
    /// All items.
    pub total: u64,
    /// Status PREVIEW.
    pub preview: u64,
    /// Status LIVE.
    pub live: u64,
    /// Status SUSPENDED.
    pub suspended: u64,
    /// Status PASSED.
    pub passed: u64,
    /// Status SOLD or SOLD_BUY_NOW.
    pub sold: u64,
    /// Status UNSOLD.
    pub unsold: u64,
    /// With at least one bid accepted.
    pub with_bids: u64,
}

impl ItemCounts {
    /// The counts plus this item.
    #[must_use]
    pub fn with(self, item: &Item) -> Self {
        self.each(&Self::of(item), u64::saturating_add)
    }

    /// The counts plus `added` minus `removed`.
    #[must_use]
    pub fn moved(self, removed: &Self, added: &Self) -> Self {
        self.each(added, u64::saturating_add).each(removed, u64::saturating_sub)
    }

    /// The items that bidders can see: all but those with status DRAFT or WITHDRAWN.
    #[must_use]
    pub fn on_view(&self) -> u64 {
        self.preview + self.live + self.suspended + self.passed + self.sold + self.unsold
    }

    fn of(item: &Item) -> Self {
        let is = |status| u64::from(item.status == status);
        Self {
            total: 1,
            preview: is(ItemStatus::Preview),
            live: is(ItemStatus::Live),
            suspended: is(ItemStatus::Suspended),
            passed: is(ItemStatus::Passed),
            sold: is(ItemStatus::Sold) + is(ItemStatus::SoldBuyNow),
            unsold: is(ItemStatus::Unsold),
            with_bids: u64::from(item.has_bids()),
        }
    }

    fn each(self, other: &Self, sum: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            total: sum(self.total, other.total),
            preview: sum(self.preview, other.preview),
            live: sum(self.live, other.live),
            suspended: sum(self.suspended, other.suspended),
            passed: sum(self.passed, other.passed),
            sold: sum(self.sold, other.sold),
            unsold: sum(self.unsold, other.unsold),
            with_bids: sum(self.with_bids, other.with_bids),
        }
    }
}

/// Decides a command on an auction.
///
/// Errors: `illegal_transition`, `fields_missing`, `field_invalid`, `no_live_item`, `end_not_in_future`,
/// `auction_has_bids`, `ring_occupied`, `items_not_finished`, `auction_was_live`, `reason_required`,
/// `buyers_open`.
pub fn decide(
    auction: &Auction,
    items: &ItemCounts,
    command: AuctionCommand,
    now: Timestamp,
) -> Result<Vec<AuctionChange>, Rejection> {
    let (to, reason, buyers) = match command {
        AuctionCommand::Create { status } => {
            require_valid_fields(auction)?;
            (status, None, OpenBuyers::default())
        }
        AuctionCommand::ChangeStatus { to, reason, buyers } => (to, clean_reason(reason)?, buyers),
    };
    let open_buyers = if buyers.confirmed { 0 } else { buyers.count };
    let facts = AuctionFacts { auction, items, reason: reason.as_deref(), open_buyers, now };
    let row = find_auction_transition(&facts, auction.current(), to)?;
    let mut changes = vec![AuctionChange::StatusChanged { from: row.from, to: row.to, cause: row.cause, reason }];
    if row.to == AuctionStatus::Preview && auction.phase == WebcastPhase::Live {
        // The auction has no bids, so absentees can leave bids again.
        changes.push(AuctionChange::PhaseChanged { phase: WebcastPhase::PreBidding, cause: row.cause });
    }
    Ok(changes)
}

/// Begins the return of a LIVE auction to PREVIEW when it has too many items for one commit: the platform accepts no
/// bid from now on. Once all earlier decisions are committed, the caller finishes with [`end_return_to_preview`].
///
/// Errors: as [`decide`].
pub fn begin_return_to_preview(
    auction: &Auction,
    items: &ItemCounts,
    now: Timestamp,
) -> Result<Vec<AuctionChange>, Rejection> {
    let command = AuctionCommand::to_status(AuctionStatus::Preview, None);
    decide(auction, items, command, now).map(|_| vec![AuctionChange::ReturnBegun])
}

/// Finishes what [`begin_return_to_preview`] began: PREVIEW, or still LIVE when a bid was accepted before it began.
pub fn end_return_to_preview(auction: &Auction, items: &ItemCounts, now: Timestamp) -> Vec<AuctionChange> {
    let command = AuctionCommand::to_status(AuctionStatus::Preview, None);
    decide(auction, items, command, now).unwrap_or_else(|_| vec![AuctionChange::ReturnGivenUp])
}

/// Rejects invalid fields; the rejection names the first one.
pub(crate) fn require_valid_fields(auction: &Auction) -> Result<(), Rejection> {
    if auction.stagger.is_some_and(|stagger| stagger.items == 0) {
        return Err(Rejection::FieldInvalid { field: "stagger", problem: "must name at least one item" });
    }
    if auction.starts_at.zip(auction.ends_at).is_some_and(|(starts_at, ends_at)| starts_at >= ends_at) {
        return Err(Rejection::FieldInvalid { field: "endsAt", problem: "must be after startsAt" });
    }
    if auction.extension_seconds.is_some_and(|seconds| !(1..=EXTENSION_SECONDS_MAX).contains(&seconds)) {
        let problem = "must be between 1 and 86,400, or null for no extension";
        return Err(Rejection::FieldInvalid { field: "extensionSeconds", problem });
    }
    auction.charges.require_valid()
}

impl Auction {
    pub(crate) fn require_live(&self) -> Result<(), Rejection> {
        match self.status {
            AuctionStatus::Live if self.returning => Err(Rejection::ItemsFollowing),
            AuctionStatus::Live => Ok(()),
            status => Err(Rejection::AuctionNotLive { status: status.name() }),
        }
    }

    /// Rejects with `auction_closed` once the auction is reconciled or archived.
    pub fn require_open(&self) -> Result<(), Rejection> {
        match self.status {
            AuctionStatus::Draft | AuctionStatus::Preview | AuctionStatus::Live => Ok(()),
            status => Err(Rejection::AuctionClosed { status: status.name() }),
        }
    }

    /// Rejects with `auction_closed` once the auction is archived.
    pub fn require_unarchived(&self) -> Result<(), Rejection> {
        match self.status {
            AuctionStatus::Archived => Err(Rejection::AuctionClosed { status: self.status.name() }),
            _ => Ok(()),
        }
    }

    pub(crate) fn require_kind(&self, needs: AuctionKind) -> Result<(), Rejection> {
        if self.kind == needs { Ok(()) } else { Err(Rejection::WrongAuctionKind { needs }) }
    }
}

#[cfg(test)]
mod tests;
