//! The life of an auction: created, previewed, live, reconciled, archived (decisions, section 2).
//!
//! Called by the platform for the API and the administration application. Reads items only as counts, so that it costs
//! the same for ten lots and for 100,000. What follows for the items is the caller's to ask of [`crate::item::decide`]:
//! [`ItemCommand::GoLive`](crate::ItemCommand::GoLive) for DRAFT and PREVIEW ones when the auction goes LIVE,
//! [`ItemCommand::Reconcile`](crate::ItemCommand::Reconcile) for PASSED ones when it is reconciled.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;

use crate::transitions::{AuctionFacts, find_auction_transition};
use crate::{Auction, AuctionChange, AuctionKind, EXTENSION_SECONDS_MAX, Item, Rejection, WebcastPhase};

/// What somebody wants of an auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuctionCommand {
    /// It comes to be, in this status: DRAFT, PREVIEW or LIVE. Its `sequence` is 0 before.
    Create {
        /// First status.
        status: AuctionStatus,
    },
    /// An administrator changes its status.
    ChangeStatus {
        /// Status wanted.
        to: AuctionStatus,
    },
}

/// Items of an auction, counted; those made in the same call count as they will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemCounts {
    /// All of them.
    pub total: u64,
    /// Status LIVE.
    pub live: u64,
    /// Status SUSPENDED.
    pub suspended: u64,
    /// Status PASSED.
    pub passed: u64,
    /// With at least one bid accepted.
    pub with_bids: u64,
}

impl ItemCounts {
    /// With this item, as it stands.
    #[must_use]
    pub fn with(self, item: &Item) -> Self {
        self.each(&Self::of(item), u64::saturating_add)
    }

    /// After `gone` went and `come` came.
    #[must_use]
    pub fn moved(self, gone: &Self, come: &Self) -> Self {
        self.each(come, u64::saturating_add).each(gone, u64::saturating_sub)
    }

    fn of(item: &Item) -> Self {
        let is = |status| u64::from(item.status == status);
        Self {
            total: 1,
            live: is(ItemStatus::Live),
            suspended: is(ItemStatus::Suspended),
            passed: is(ItemStatus::Passed),
            with_bids: u64::from(item.has_bids()),
        }
    }

    fn each(self, other: &Self, sum: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            total: sum(self.total, other.total),
            live: sum(self.live, other.live),
            suspended: sum(self.suspended, other.suspended),
            passed: sum(self.passed, other.passed),
            with_bids: sum(self.with_bids, other.with_bids),
        }
    }
}

/// Decides a command on an auction.
///
/// Errors: `illegal_transition`, `fields_missing`, `field_invalid`, `no_live_item`, `end_not_in_future`,
/// `auction_has_bids`, `ring_occupied`, `items_not_finished`.
pub fn decide(
    auction: &Auction,
    items: &ItemCounts,
    command: AuctionCommand,
    now: Timestamp,
) -> Result<Vec<AuctionChange>, Rejection> {
    let facts = AuctionFacts { auction, items, now };
    let row = match command {
        AuctionCommand::Create { status } => {
            require_valid_fields(auction)?;
            find_auction_transition(&facts, auction.current(), status)?
        }
        AuctionCommand::ChangeStatus { to } => find_auction_transition(&facts, auction.current(), to)?,
    };
    let mut changes = vec![AuctionChange::StatusChanged { from: row.from, to: row.to, cause: row.cause }];
    if row.to == AuctionStatus::Preview && auction.phase == WebcastPhase::Live {
        // Nobody has bid: the day begins anew.
        changes.push(AuctionChange::PhaseChanged { phase: WebcastPhase::PreBidding, cause: row.cause });
    }
    Ok(changes)
}

/// Begins the way of an auction back from LIVE to PREVIEW where its items are too many to be looked at in one commit: from now
/// on no bid is taken. When every decision of before is known, [`end_return_to_preview`] leads it there.
///
/// Errors: as [`decide`].
pub fn begin_return_to_preview(
    auction: &Auction,
    items: &ItemCounts,
    now: Timestamp,
) -> Result<Vec<AuctionChange>, Rejection> {
    let command = AuctionCommand::ChangeStatus { to: AuctionStatus::Preview };
    decide(auction, items, command, now).map(|_| vec![AuctionChange::ReturnBegun])
}

/// Ends what [`begin_return_to_preview`] began: PREVIEW, or LIVE as before when a bid had come in between.
pub fn end_return_to_preview(auction: &Auction, items: &ItemCounts, now: Timestamp) -> Vec<AuctionChange> {
    let command = AuctionCommand::ChangeStatus { to: AuctionStatus::Preview };
    decide(auction, items, command, now).unwrap_or_else(|_| vec![AuctionChange::ReturnGivenUp])
}

/// Refuses an auction with fields that can't be so, by the name of the first one.
pub(crate) fn require_valid_fields(auction: &Auction) -> Result<(), Rejection> {
    if auction.stagger.is_some_and(|stagger| stagger.items == 0) {
        return Err(Rejection::FieldInvalid { field: "stagger", problem: "must name at least one item" });
    }
    if auction.starts_at.zip(auction.ends_at).is_some_and(|(starts_at, ends_at)| starts_at >= ends_at) {
        return Err(Rejection::FieldInvalid { field: "endsAt", problem: "must be after startsAt" });
    }
    if auction.extension_seconds.is_some_and(|seconds| !(1..=EXTENSION_SECONDS_MAX).contains(&seconds)) {
        let problem = "must be between 1 and 86,400, or nothing for no extension";
        return Err(Rejection::FieldInvalid { field: "extensionSeconds", problem });
    }
    auction.charges.require_valid()
}

/// What other rules ask of an item's auction.
impl Auction {
    pub(crate) fn require_live(&self) -> Result<(), Rejection> {
        match self.status {
            AuctionStatus::Live if self.returning => Err(Rejection::ItemsFollowing),
            AuctionStatus::Live => Ok(()),
            status => Err(Rejection::AuctionNotLive { status: status.name() }),
        }
    }

    /// Refuses with `auction_closed` what comes after the reconciliation.
    pub fn require_open(&self) -> Result<(), Rejection> {
        match self.status {
            AuctionStatus::Draft | AuctionStatus::Preview | AuctionStatus::Live => Ok(()),
            status => Err(Rejection::AuctionClosed { status: status.name() }),
        }
    }

    /// Refuses with `auction_closed` what comes when the sale is put away: nothing that belongs to it changes any more.
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
