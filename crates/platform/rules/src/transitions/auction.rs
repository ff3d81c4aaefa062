//! The auction table, its guards, and how a row is found.

use std::fmt;

use contract::AuctionStatus;
use contract::AuctionStatus::{Archived, Draft, Live, Preview, Reconciliation};
use jiff::Timestamp;

use crate::{Auction, AuctionKind, Cause, ItemCounts, Rejection};

use AuctionGuard::*;

/// A row: from one status to another, and under which guards. Every one is announced. Creations are calls, everything
/// else is done by an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuctionTransition {
    /// Status before; none for a creation.
    pub from: Option<AuctionStatus>,
    /// Status after.
    pub to: AuctionStatus,
    /// What must hold, asked in this order.
    pub guards: &'static [AuctionGuard],
    /// The journal's word.
    pub cause: Cause,
}

/// What must hold for a row. A refusal says what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuctionGuard {
    /// Title, currency, time zone, and the closing time of a timed auction or the start of a webcast are there.
    FieldsComplete,
    /// At least one item is LIVE; those made LIVE in the same call count.
    AnItemIsLive,
    /// The closing time is in the future; a webcast may have none.
    EndInFuture,
    /// No item has bids.
    NoBids,
    /// Nothing is in the ring: a clerk takes it out first.
    RingEmpty,
    /// No item is LIVE or SUSPENDED.
    NothingLiveOrSuspended,
}

const fn row(
    from: Option<AuctionStatus>,
    to: AuctionStatus,
    guards: &'static [AuctionGuard],
    cause: Cause,
) -> AuctionTransition {
    AuctionTransition { from, to, guards, cause }
}

/// The auction transitions. Creating an auction LIVE goes the whole way at once, so the guards of PREVIEW → LIVE hold
/// for it too: otherwise one wrong date would end, and announce, all its items in the next second.
#[rustfmt::skip]
pub const AUCTION_TRANSITIONS: &[AuctionTransition] = &[
    row(None,                 Draft,          &[],                                          Cause::Created),
    row(None,                 Preview,        &[FieldsComplete],                            Cause::Created),
    row(None,                 Live,           &[FieldsComplete, AnItemIsLive, EndInFuture], Cause::Created),
    row(Some(Draft),          Preview,        &[FieldsComplete],                            Cause::StatusChangedByAdministrator),
    row(Some(Preview),        Draft,          &[],                                          Cause::StatusChangedByAdministrator),
    row(Some(Preview),        Live,           &[EndInFuture],                               Cause::StatusChangedByAdministrator),
    row(Some(Live),           Preview,        &[NoBids, RingEmpty],                         Cause::StatusChangedByAdministrator),
    row(Some(Live),           Reconciliation, &[NothingLiveOrSuspended],                    Cause::StatusChangedByAdministrator),
    row(Some(Reconciliation), Archived,       &[],                                          Cause::StatusChangedByAdministrator),
];

/// The row as one of a Markdown table: from, to, cause, guards.
impl fmt::Display for AuctionTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.map_or("–", AuctionStatus::name);
        let guards = self.guards.iter().map(|guard| guard.words()).collect::<Vec<_>>().join("; ");
        write!(f, "| {from} | {} | {} | {guards} |", self.to.name(), self.cause.as_str())
    }
}

/// What guards look at.
pub(crate) struct AuctionFacts<'a> {
    pub(crate) auction: &'a Auction,
    pub(crate) items: &'a ItemCounts,
    pub(crate) now: Timestamp,
}

/// Finds the row that moves the auction from `from` to `to`.
pub(crate) fn find_auction_transition(
    facts: &AuctionFacts<'_>,
    from: Option<AuctionStatus>,
    to: AuctionStatus,
) -> Result<&'static AuctionTransition, Rejection> {
    let Some(row) = rows_from(from).find(|row| row.to == to) else {
        let legal = match from {
            None => rows_from(None).map(|row| row.to.name()).collect(),
            Some(_) => facts.auction.legal_next(facts.items, facts.now).into_iter().map(AuctionStatus::name).collect(),
        };
        return Err(Rejection::IllegalTransition { from: from.map(AuctionStatus::name), to: to.name(), legal });
    };
    row.guards.iter().try_for_each(|guard| guard.check(facts))?;
    Ok(row)
}

fn rows_from(from: Option<AuctionStatus>) -> impl Iterator<Item = &'static AuctionTransition> {
    AUCTION_TRANSITIONS.iter().filter(move |row| row.from == from)
}

impl Auction {
    /// Statuses that an administrator may ask for at `now`, with its items as they are counted, in the table's order. Only of a
    /// LIVE auction are the counts asked, and only if there is one. Bids on a webcast are not looked at: among them are those
    /// that absentees left, and nobody is told of.
    pub fn legal_next(&self, items: &ItemCounts, now: Timestamp) -> Vec<AuctionStatus> {
        let facts = AuctionFacts { auction: self, items, now };
        let is_secret = |guard: &AuctionGuard| *guard == NoBids && self.kind == AuctionKind::Webcast;
        let holds = |guard: &AuctionGuard| is_secret(guard) || guard.check(&facts).is_ok();
        rows_from(self.current()).filter(|row| row.guards.iter().all(holds)).map(|row| row.to).collect()
    }

    /// Its status, or none while it is being created.
    pub(crate) fn current(&self) -> Option<AuctionStatus> {
        (self.sequence > 0).then_some(self.status)
    }
}

impl AuctionGuard {
    /// The guard in words, for documents.
    pub fn words(self) -> &'static str {
        match self {
            FieldsComplete => "required fields complete",
            AnItemIsLive => "at least one item is LIVE",
            EndInFuture => "closing time in the future",
            NoBids => "no bids",
            RingEmpty => "nothing is in the ring",
            NothingLiveOrSuspended => "no item is LIVE or SUSPENDED",
        }
    }

    fn check(self, facts: &AuctionFacts<'_>) -> Result<(), Rejection> {
        let AuctionFacts { auction, items, now } = facts;
        match self {
            FieldsComplete => require_complete(auction),
            AnItemIsLive => (items.live > 0).then_some(()).ok_or(Rejection::NoLiveItem),
            EndInFuture => end_in_future(auction, *now),
            NoBids => (items.with_bids == 0).then_some(()).ok_or(Rejection::AuctionHasBids),
            RingEmpty => auction.in_ring.map_or(Ok(()), |item| Err(Rejection::RingOccupied { item })),
            NothingLiveOrSuspended => nothing_live_or_suspended(items),
        }
    }
}

/// Errors: `fields_missing`, when it lacks what PREVIEW and LIVE need.
pub(crate) fn require_complete(auction: &Auction) -> Result<(), Rejection> {
    let needed = [
        ("title", !auction.title.trim().is_empty()),
        ("currency", !auction.currency.trim().is_empty()),
        ("timeZone", !auction.time_zone.trim().is_empty()),
        ("startsAt", auction.kind == AuctionKind::Timed || auction.starts_at.is_some()),
        ("endsAt", auction.kind == AuctionKind::Webcast || auction.ends_at.is_some()),
    ];
    let fields: Vec<&'static str> = needed.into_iter().filter(|(_, given)| !given).map(|(field, _)| field).collect();
    if fields.is_empty() { Ok(()) } else { Err(Rejection::FieldsMissing { fields }) }
}

fn end_in_future(auction: &Auction, now: Timestamp) -> Result<(), Rejection> {
    let in_future = match (auction.kind, auction.ends_at) {
        (_, Some(ends_at)) => ends_at > now,
        (AuctionKind::Webcast, None) => true,
        (AuctionKind::Timed, None) => false,
    };
    in_future.then_some(()).ok_or(Rejection::EndNotInFuture)
}

fn nothing_live_or_suspended(items: &ItemCounts) -> Result<(), Rejection> {
    let ItemCounts { live, suspended, .. } = *items;
    if live == 0 && suspended == 0 { Ok(()) } else { Err(Rejection::ItemsNotFinished { live, suspended }) }
}
