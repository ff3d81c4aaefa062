//! Guards: the conditions in the transition table of items.

use jiff::Timestamp;

use crate::{Auction, AuctionKind, Item, Rejection};

use ItemGuard::*;

/// A condition of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemGuard {
    /// The auction is LIVE.
    AuctionLive,
    /// The auction is neither in RECONCILIATION nor ARCHIVED.
    AuctionOpen,
    /// The auction is not ARCHIVED.
    AuctionNotArchived,
    /// The item was not relisted in another auction.
    NotRelisted,
    /// The auction is timed.
    Timed,
    /// The auction is a webcast.
    Webcast,
    /// The item is in the ring.
    InRing,
    /// The item is not in the ring. The clerk takes it out first, so that every item in the ring is LIVE.
    NotInRing,
    /// A bid stands.
    StandingBid,
    /// A bid stands, and the price has reached the reserve.
    ReserveMet,
    /// The effective end is reached.
    EndReached,
    /// In a timed auction, the end is in the future.
    EndInFuture,
    /// No bid was accepted.
    NoBids,
    /// A reason is given.
    Reason,
}

/// The facts that guards check.
pub(crate) struct ItemFacts<'a> {
    pub(crate) auction: &'a Auction,
    pub(crate) item: &'a Item,
    pub(crate) reason: Option<&'a str>,
    pub(crate) now: Timestamp,
}

impl ItemGuard {
    /// The guard in the words of `docs/run-sales/rules.md`.
    pub fn words(self) -> &'static str {
        match self {
            AuctionLive => "the auction is LIVE",
            AuctionOpen => "the auction is not reconciled",
            AuctionNotArchived => "the auction is not archived",
            NotRelisted => "not relisted",
            Timed => "timed auction",
            Webcast => "webcast",
            InRing => "in the ring",
            NotInRing => "not in the ring",
            StandingBid => "a standing bid",
            ReserveMet => "high bid ≥ reserve",
            EndReached => "effective end reached",
            EndInFuture => "in a timed auction, an end in the future",
            NoBids => "no bids",
            Reason => "with a reason",
        }
    }

    /// Rejects when the guard does not hold.
    pub(super) fn check(self, facts: &ItemFacts<'_>) -> Result<(), Rejection> {
        let ItemFacts { auction, item, .. } = facts;
        match self {
            AuctionLive => auction.require_live(),
            AuctionOpen => auction.require_open(),
            AuctionNotArchived => auction.require_unarchived(),
            NotRelisted => item.relisted_as.map_or(Ok(()), |item| Err(Rejection::AlreadyRelisted { item })),
            Timed => auction.require_kind(AuctionKind::Timed),
            Webcast => auction.require_kind(AuctionKind::Webcast),
            InRing => item.in_ring().map(|_| ()).ok_or(Rejection::NotInRing),
            NotInRing => item.in_ring().map_or(Ok(()), |_| Err(Rejection::ItemInRing)),
            StandingBid => item.standing.is_some().then_some(()).ok_or(Rejection::NoStandingBid),
            ReserveMet => item.would_sell().then_some(()).ok_or(Rejection::ReserveNotMet),
            EndReached => end_reached(facts),
            EndInFuture => end_in_future(facts),
            NoBids => (!item.has_bids()).then_some(()).ok_or(Rejection::ItemHasBids),
            Reason => facts.reason.is_some().then_some(()).ok_or(Rejection::ReasonRequired),
        }
    }
}

fn end_reached(facts: &ItemFacts<'_>) -> Result<(), Rejection> {
    let reached = facts.item.effective_end_time.is_some_and(|end| facts.now >= end);
    reached.then_some(()).ok_or(Rejection::EndNotReached)
}

fn end_in_future(facts: &ItemFacts<'_>) -> Result<(), Rejection> {
    let ItemFacts { auction, item, now, .. } = facts;
    match auction.kind {
        AuctionKind::Webcast => Ok(()),
        AuctionKind::Timed => {
            let end = item.effective_end_time.or_else(|| item.end_to_plan(auction));
            // An end before the start of the auction would leave no time to bid.
            let earliest = auction.starts_at.map_or(*now, |start| start.max(*now));
            end.is_some_and(|end| end > earliest).then_some(()).ok_or(Rejection::EndNotInFuture)
        }
    }
}
