//! The transition table of items, and the search for a row.

mod guard;

pub(crate) use guard::ItemFacts;
pub use guard::ItemGuard;

use std::fmt;

use contract::ItemStatus;
use contract::ItemStatus::{Draft, Live, Passed, Preview, Sold, SoldBuyNow, Suspended, Unsold, Withdrawn};
use jiff::Timestamp;

use crate::{Auction, Cause, Item, Rejection};

use ItemActor::*;
use ItemGuard::*;

/// A row: who changes the status of an item, under which guards, and whether the change is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemTransition {
    /// Status before; none for a creation.
    pub from: Option<ItemStatus>,
    /// Status after.
    pub to: ItemStatus,
    /// Who or what changes the status.
    pub by: ItemActor,
    /// Conditions, checked in this order.
    pub guards: &'static [ItemGuard],
    /// Whether the customer receives an event.
    pub announced: Announced,
    /// The cause in the journal.
    pub cause: Cause,
}

/// Who or what changes the status of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemActor {
    /// An API call that creates the item.
    Creation,
    /// A catalogue import.
    Import,
    /// An administrator.
    Administrator,
    /// A clerk or an administrator corrects a sale or a pass.
    Correction,
    /// The item's auction goes LIVE.
    AuctionGoesLive,
    /// The timer of a timed auction.
    End,
    /// The clerk sells.
    ClerkSells,
    /// The clerk passes.
    ClerkPasses,
    /// The clerk offers a passed item again.
    ClerkOffersAgain,
    /// A bidder buys at the buy-now price.
    Buyer,
    /// The item's auction is reconciled.
    Reconciliation,
    /// The item's auction was a mistake and is archived.
    AuctionArchived,
    /// An administrator accepts an offer after the sale.
    PostSaleOffer,
}

impl ItemActor {
    /// The actor in the words of `docs/run-sales/rules.md`.
    pub fn words(self) -> &'static str {
        match self {
            Creation => "created",
            Import => "imported",
            Administrator => "administrator",
            Correction => "correction by clerk or administrator",
            AuctionGoesLive => "its auction goes LIVE",
            End => "its end",
            ClerkSells => "the clerk sells",
            ClerkPasses => "the clerk passes",
            ClerkOffersAgain => "the clerk offers it again",
            Buyer => "bought at its buy-now price",
            Reconciliation => "reconciliation",
            AuctionArchived => "its auction is archived as a mistake",
            PostSaleOffer => "administrator accepts an offer after the sale",
        }
    }
}

/// Whether a change of status is announced to the customer as an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Announced {
    /// Always.
    Yes,
    /// If an earlier status of the item was announced. A customer who received that status learns that it no longer
    /// holds.
    FollowUp,
    /// Like [`Announced::FollowUp`]; marks changes that prepare a sale, which are usually silent.
    No,
}

impl Announced {
    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::FollowUp => "follow-up",
            Self::No => "no",
        }
    }

    /// True when this change of the item is announced.
    pub fn applies_to(self, item: &Item) -> bool {
        match self {
            Self::Yes => true,
            Self::FollowUp | Self::No => item.announced,
        }
    }
}

const fn row(
    from: Option<ItemStatus>,
    to: ItemStatus,
    by: ItemActor,
    guards: &'static [ItemGuard],
    announced: Announced,
    cause: Cause,
) -> ItemTransition {
    ItemTransition { from, to, by, guards, announced, cause }
}

/// The item transitions. Among rows with the same `from` and `by`, the first row whose guards hold applies.
#[rustfmt::skip]
pub const ITEM_TRANSITIONS: &[ItemTransition] = &[
    row(None,            Draft,      Creation,         &[AuctionOpen],                                Announced::No,       Cause::Created),
    row(None,            Live,       Creation,         &[AuctionLive, EndInFuture],                   Announced::No,       Cause::Created),
    row(None,            Draft,      Import,           &[AuctionOpen],                                Announced::No,       Cause::Imported),
    row(None,            Live,       Import,           &[AuctionLive, EndInFuture],                   Announced::No,       Cause::Imported),
    row(Some(Draft),     Preview,    Administrator,    &[AuctionOpen],                                Announced::No,       Cause::StatusChangedByAdministrator),
    row(Some(Draft),     Preview,    AuctionGoesLive,  &[],                                           Announced::No,       Cause::AuctionWentLive),
    row(Some(Preview),   Draft,      Administrator,    &[AuctionOpen],                                Announced::No,       Cause::StatusChangedByAdministrator),
    row(Some(Preview),   Live,       Administrator,    &[AuctionLive, EndInFuture],                   Announced::No,       Cause::StatusChangedByAdministrator),
    row(Some(Preview),   Live,       AuctionGoesLive,  &[AuctionOpen],                                Announced::No,       Cause::AuctionWentLive),
    row(Some(Live),      Draft,      Administrator,    &[NotInRing, NoBids],                          Announced::No,       Cause::StatusChangedByAdministrator),
    row(Some(Live),      Sold,       End,              &[Timed, EndReached, ReserveMet],              Announced::Yes,      Cause::EndReached),
    row(Some(Live),      Unsold,     End,              &[Timed, EndReached],                          Announced::Yes,      Cause::EndReached),
    row(Some(Live),      Sold,       ClerkSells,       &[Webcast, AuctionLive, InRing, StandingBid],  Announced::Yes,      Cause::SoldInRing),
    row(Some(Live),      Passed,     ClerkPasses,      &[Webcast, AuctionLive, InRing],               Announced::Yes,      Cause::PassedInRing),
    row(Some(Live),      SoldBuyNow, Buyer,            &[Timed, AuctionLive],                         Announced::Yes,      Cause::BoughtNow),
    row(Some(Passed),    Live,       ClerkOffersAgain, &[Webcast, AuctionLive],                       Announced::FollowUp, Cause::OfferedAgain),
    row(Some(Sold),      Live,       Correction,       &[AuctionOpen, Reason, EndInFuture],           Announced::FollowUp, Cause::Corrected),
    row(Some(Passed),    Live,       Correction,       &[AuctionOpen, Reason],                        Announced::FollowUp, Cause::Corrected),
    row(Some(Draft),     Suspended,  Administrator,    &[AuctionOpen, Reason],                        Announced::FollowUp, Cause::Suspended),
    row(Some(Preview),   Suspended,  Administrator,    &[AuctionOpen, Reason],                        Announced::FollowUp, Cause::Suspended),
    row(Some(Live),      Suspended,  Administrator,    &[NotInRing, Reason],                          Announced::FollowUp, Cause::Suspended),
    row(Some(Suspended), Draft,      Administrator,    &[NoBids, Reason],                             Announced::FollowUp, Cause::Resumed),
    row(Some(Suspended), Preview,    Administrator,    &[NoBids, Reason],                             Announced::FollowUp, Cause::Resumed),
    row(Some(Suspended), Live,       Administrator,    &[AuctionLive, Reason, EndInFuture],           Announced::FollowUp, Cause::Resumed),
    row(Some(Draft),     Withdrawn,  Administrator,    &[AuctionOpen],                                Announced::FollowUp, Cause::Withdrawn),
    row(Some(Preview),   Withdrawn,  Administrator,    &[AuctionOpen],                                Announced::FollowUp, Cause::Withdrawn),
    row(Some(Live),      Withdrawn,  Administrator,    &[NotInRing],                                  Announced::FollowUp, Cause::Withdrawn),
    row(Some(Suspended), Withdrawn,  Administrator,    &[],                                           Announced::FollowUp, Cause::Withdrawn),
    row(Some(Passed),    Withdrawn,  Administrator,    &[],                                           Announced::FollowUp, Cause::Withdrawn),
    row(Some(Withdrawn), Draft,      Administrator,    &[AuctionOpen],                                Announced::FollowUp, Cause::Reinstated),
    row(Some(Passed),    Unsold,     Reconciliation,   &[],                                           Announced::FollowUp, Cause::Reconciled),
    row(Some(Passed),    Sold,       PostSaleOffer,    &[AuctionNotArchived, Reason],                 Announced::Yes,      Cause::PostSaleOfferAccepted),
    row(Some(Sold),      Unsold,     Administrator,    &[AuctionNotArchived, Reason],                 Announced::Yes,      Cause::BuyerDidNotPay),
    row(Some(SoldBuyNow), Unsold,    Administrator,    &[AuctionNotArchived, Reason],                 Announced::Yes,      Cause::BuyerDidNotPay),
    row(Some(Unsold),    Sold,       PostSaleOffer,    &[AuctionNotArchived, NotRelisted, Reason],    Announced::Yes,      Cause::PostSaleOfferAccepted),
    row(Some(Draft),     Withdrawn,  AuctionArchived,  &[],                                           Announced::FollowUp, Cause::AuctionArchived),
    row(Some(Preview),   Withdrawn,  AuctionArchived,  &[],                                           Announced::FollowUp, Cause::AuctionArchived),
    row(Some(Suspended), Withdrawn,  AuctionArchived,  &[],                                           Announced::FollowUp, Cause::AuctionArchived),
];

/// The row as Markdown: from, to, by, guards, announced.
impl fmt::Display for ItemTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.map_or("–", ItemStatus::name);
        let guards = self.guards.iter().map(|guard| guard.words()).collect::<Vec<_>>().join("; ");
        write!(f, "| {from} | {} | {} | {guards} | {} |", self.to.name(), self.by.words(), self.announced.as_str())
    }
}

/// Finds the row from the item's status by one of the actors `by`, and to the status `to` if one is given.
pub(crate) fn find_item_transition(
    facts: &ItemFacts<'_>,
    by: &[ItemActor],
    to: Option<ItemStatus>,
) -> Result<&'static ItemTransition, Rejection> {
    let from = facts.item.current();
    let mut refused = None;
    for row in rows_from(from, by).filter(|row| to.is_none_or(|to| row.to == to)) {
        match row.guards.iter().try_for_each(|guard| guard.check(facts)) {
            Ok(()) => return Ok(row),
            Err(rejection) => refused = Some(rejection),
        }
    }
    Err(refused.unwrap_or_else(|| {
        let legal = match from {
            None => names(rows_from(None, by).map(|row| row.to)),
            Some(_) => names(facts.item.legal_next(facts.auction, facts.now).into_iter()),
        };
        let wanted = to.or_else(|| ITEM_TRANSITIONS.iter().find(|row| by.contains(&row.by)).map(|row| row.to));
        Rejection::IllegalTransition {
            from: from.map(ItemStatus::name),
            to: wanted.map_or("", ItemStatus::name),
            legal,
        }
    }))
}

fn rows_from(from: Option<ItemStatus>, by: &[ItemActor]) -> impl Iterator<Item = &'static ItemTransition> {
    ITEM_TRANSITIONS.iter().filter(move |row| row.from == from && by.contains(&row.by))
}

fn names(statuses: impl Iterator<Item = ItemStatus>) -> Vec<&'static str> {
    statuses.map(ItemStatus::name).collect()
}

impl Item {
    /// Statuses that an administrator can request at `now`, in the order of the table, with a reason where one is
    /// required. Absentee bids are secret, so the list ignores them; a change that they forbid is still rejected.
    pub fn legal_next(&self, auction: &Auction, now: Timestamp) -> Vec<ItemStatus> {
        let facts = ItemFacts { auction, item: self, reason: Some(""), now };
        rows_from(self.current(), &[Administrator, Correction, PostSaleOffer])
            .filter(|row| {
                let is_secret = |guard: &ItemGuard| *guard == ItemGuard::NoBids && !self.has_shown_bids();
                row.guards.iter().all(|guard| is_secret(guard) || guard.check(&facts).is_ok())
            })
            .map(|row| row.to)
            .collect()
    }

    /// Its status, or none while it is being created.
    pub(crate) fn current(&self) -> Option<ItemStatus> {
        (self.sequence > 0).then_some(self.status)
    }
}

#[cfg(test)]
mod tests;
