//! The transition table of auctions, its guards, and the search for a row.

use std::fmt;

use contract::AuctionStatus;
use contract::AuctionStatus::{Archived, Draft, Live, Preview, Reconciliation};
use jiff::Timestamp;

use crate::{Auction, AuctionKind, Cause, ItemCounts, Rejection};

use AuctionGuard::*;

/// A row: a change of status and its guards. Every change is announced. API calls create auctions; administrators make
/// all other changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuctionTransition {
    /// Status before; none for a creation.
    pub from: Option<AuctionStatus>,
    /// Status after.
    pub to: AuctionStatus,
    /// Conditions, checked in this order.
    pub guards: &'static [AuctionGuard],
    /// The cause in the journal.
    pub cause: Cause,
}

/// A condition of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuctionGuard {
    /// Title, currency, time zone, and the closing time of a timed auction or the start of a webcast are set.
    FieldsComplete,
    /// At least one item is LIVE. Items that the same call makes LIVE count.
    AnItemIsLive,
    /// The closing time is in the future; a webcast may have none.
    EndInFuture,
    /// No item has bids.
    NoBids,
    /// The ring is empty. The clerk takes an item out first.
    RingEmpty,
    /// No item is LIVE or SUSPENDED.
    NothingLiveOrSuspended,
    /// The auction was never LIVE.
    NeverLive,
    /// A reason is given.
    Reason,
    /// Every sold item has a buyer, or it is confirmed that buyers stay open.
    BuyersNamed,
}

const fn row(
    from: Option<AuctionStatus>,
    to: AuctionStatus,
    guards: &'static [AuctionGuard],
    cause: Cause,
) -> AuctionTransition {
    AuctionTransition { from, to, guards, cause }
}

/// The auction transitions. The creation of a LIVE auction has the guard of PREVIEW → LIVE too. Without it, a wrong
/// closing time would end all items, and announce it, within a second.
#[rustfmt::skip]
pub const AUCTION_TRANSITIONS: &[AuctionTransition] = &[
    row(None,                 Draft,          &[],                                          Cause::Created),
    row(None,                 Preview,        &[FieldsComplete],                            Cause::Created),
    row(None,                 Live,           &[FieldsComplete, AnItemIsLive, EndInFuture], Cause::Created),
    row(Some(Draft),          Preview,        &[FieldsComplete],                            Cause::StatusChangedByAdministrator),
    row(Some(Preview),        Draft,          &[],                                          Cause::StatusChangedByAdministrator),
    row(Some(Preview),        Live,           &[EndInFuture],                               Cause::StatusChangedByAdministrator),
    row(Some(Draft),          Archived,       &[NeverLive, NoBids, Reason],                 Cause::AuctionArchived),
    row(Some(Preview),        Archived,       &[NeverLive, NoBids, Reason],                 Cause::AuctionArchived),
    row(Some(Live),           Preview,        &[NoBids, RingEmpty],                         Cause::StatusChangedByAdministrator),
    row(Some(Live),           Reconciliation, &[NothingLiveOrSuspended],                    Cause::StatusChangedByAdministrator),
    row(Some(Reconciliation), Archived,       &[BuyersNamed],                               Cause::StatusChangedByAdministrator),
];

/// The row as Markdown: from, to, cause, guards.
impl fmt::Display for AuctionTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.map_or("–", AuctionStatus::name);
        let guards = self.guards.iter().map(|guard| guard.words()).collect::<Vec<_>>().join("; ");
        write!(f, "| {from} | {} | {} | {guards} |", self.to.name(), self.cause.as_str())
    }
}

/// The facts that guards check.
pub(crate) struct AuctionFacts<'a> {
    pub(crate) auction: &'a Auction,
    pub(crate) items: &'a ItemCounts,
    pub(crate) reason: Option<&'a str>,
    /// Sold items without a buyer; 0 when it is confirmed that they stay without one.
    pub(crate) open_buyers: u64,
    pub(crate) now: Timestamp,
}

/// Finds the row from `from` to `to`, and checks its guards.
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
    /// Statuses that an administrator can request at `now`, in the order of the table, with a reason where one is
    /// required. The counts of items matter only
    /// for a LIVE auction. Absentee bids are secret, so the list ignores the bids of a webcast; a change that they
    /// forbid is still rejected.
    pub fn legal_next(&self, items: &ItemCounts, now: Timestamp) -> Vec<AuctionStatus> {
        let facts = AuctionFacts { auction: self, items, reason: Some(""), open_buyers: 0, now };
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
    /// The guard in the words of `docs/run-sales/rules.md`.
    pub fn words(self) -> &'static str {
        match self {
            FieldsComplete => "required fields complete",
            AnItemIsLive => "at least one item is LIVE",
            EndInFuture => "closing time in the future",
            NoBids => "no bids",
            RingEmpty => "nothing is in the ring",
            NothingLiveOrSuspended => "no item is LIVE or SUSPENDED",
            NeverLive => "it was never LIVE",
            Reason => "with a reason",
            BuyersNamed => "every sold item has a buyer, or it is confirmed",
        }
    }

    fn check(self, facts: &AuctionFacts<'_>) -> Result<(), Rejection> {
        let AuctionFacts { auction, items, reason, open_buyers, now } = facts;
        match self {
            FieldsComplete => require_complete(auction),
            AnItemIsLive => (items.live > 0).then_some(()).ok_or(Rejection::NoLiveItem),
            EndInFuture => end_in_future(auction, *now),
            NoBids => (items.with_bids == 0).then_some(()).ok_or(Rejection::AuctionHasBids),
            RingEmpty => auction.in_ring.map_or(Ok(()), |item| Err(Rejection::RingOccupied { item })),
            NothingLiveOrSuspended => nothing_live_or_suspended(items),
            NeverLive => (!auction.was_live).then_some(()).ok_or(Rejection::AuctionWasLive),
            Reason => reason.is_some().then_some(()).ok_or(Rejection::ReasonRequired),
            BuyersNamed => (*open_buyers == 0).then_some(()).ok_or(Rejection::BuyersOpen { count: *open_buyers }),
        }
    }
}

/// Rejects with `fields_missing` an auction without the fields that PREVIEW and LIVE require.
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
