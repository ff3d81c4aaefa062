//! Changes many items of an auction in one call. Each item succeeds or fails on its own: one commit contains the valid
//! changes, and the response lists an error for every other item.

use std::collections::HashSet;

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::item::ItemEdit;
use platform_rules::{Auction, Item, ItemCommand, Rejection};
use uuid::Uuid;

use super::ITEMS_READ_MAX;
use super::edit::edit_item;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{BulkChange, ItemCounts, Page};
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// The problem of a second entry about the same item.
const NAMED_TWICE: &str = "is the item of an earlier entry: put all changes of an item into one entry";

/// The changes of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemEditEntry {
    /// The item.
    pub item: Uuid,
    /// The version that the caller saw; none for any version.
    pub version: Option<i64>,
    /// The fields to change.
    pub edit: ItemEdit,
    /// The status after the edit, with a reason; none keeps the status.
    pub status: Option<(ItemStatus, Option<String>)>,
}

/// An entry that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEntry {
    /// The item, if the entry names it.
    pub item: Option<Uuid>,
    /// Its problems; pointers begin at the entry.
    pub problems: Vec<Problem>,
}

/// The result of an accepted entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemEditOutcome {
    /// The changed item.
    Changed(Item),
    /// The item had these values already: its version stays.
    Unchanged(Item),
}

/// The result of changing many items.
#[derive(Debug)]
pub struct ItemEditsReport {
    /// The auction.
    pub auction: Auction,
    /// The counts of its items after the change.
    pub counts: ItemCounts,
    /// The bulk change that its items follow, while it runs.
    pub bulk_change: Option<BulkChange>,
    /// For each entry, in order, the item after the change or the error; JSON pointers begin at the entry.
    pub items: Vec<(Option<Uuid>, PlatformResult<ItemEditOutcome>)>,
}

impl ItemEditOutcome {
    /// The item after the change.
    pub fn item(&self) -> &Item {
        match self {
            Self::Changed(item) | Self::Unchanged(item) => item,
        }
    }
}

impl Platform {
    /// Changes up to 1,000 items of an auction. A rejected or unreadable entry does not affect the others, which are
    /// committed together. Of two entries about one item the second is rejected. A lot number is taken while another
    /// item has it, even if the same call gives that item another number.
    ///
    /// Errors: `not_found` (the auction), `invalid` (the number of entries), `precondition_failed` (the auction's
    /// version), `busy`. Each entry has those of [`Platform::change_item`] and [`Platform::change_item_status`].
    pub async fn change_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        entries: &[Result<ItemEditEntry, UnreadableEntry>],
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, ItemEditsReport>>,
    ) -> PlatformResult<Outcome<ItemEditsReport>> {
        caller.require(Scope::AuctionsWrite)?;
        self.check_count("/items", entries.len())?;
        self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, auction).await?;
            expect_version(expected_version, auction.version)?;
            let now = self.time_of(&auction);
            let wants_lot = entries.iter().flatten().any(|entry| entry.edit.lot_number.is_some());
            let mut lots = if wants_lot { self.lots_of(auction.uuid).await? } else { HashSet::new() };
            let mut named = HashSet::new();
            let mut draft = self.build_change(&caller.actor, now);
            let mut items = Vec::with_capacity(entries.len());
            let mut needs_new_version = false;
            if wants_lot {
                // An import in progress has checked its lot numbers against the auction's present ones.
                self.require_no_bulk_change(&auction).await?;
            }
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(UnreadableEntry { item, problems }) => {
                        items.push((*item, Err(PlatformError::Invalid(problems.clone()))));
                        continue;
                    }
                };
                let found = self.store().item(entry.item).await?.filter(|item| item.auction == auction.uuid);
                let done = match found {
                    _ if !named.insert(entry.item) => Err(PlatformError::invalid("/item", NAMED_TWICE)),
                    Some(item) => match self.require_item_not_pending(&auction, &item).await {
                        Ok(()) => change_one(&mut draft, &auction, item, entry, &mut lots, now),
                        Err(following) => Err(following),
                    },
                    None => Err(PlatformError::NotFound("item in this auction")),
                };
                let stays =
                    |done: &ItemEditOutcome| matches!(done.item().status, ItemStatus::Live | ItemStatus::Suspended);
                needs_new_version |= entry.status.is_some() && done.as_ref().is_ok_and(stays);
                items.push((Some(entry.item), done));
            }
            needs_new_version |=
                wants_lot && items.iter().any(|(_, done)| matches!(done, Ok(ItemEditOutcome::Changed(_))));
            // The auction's status depends on these counts, and lot numbers are unique in it. The new version makes a
            // concurrent command on the auction conflict, so that it reads both again.
            let auction = if needs_new_version { draft.auction(auction, &[]) } else { auction };
            let customer = auction.customer;
            let counts = draft.counts_after(&self.store().item_counts(auction.uuid).await?);
            let bulk_change = self.store().bulk_change(auction.uuid).await?;
            let result = ItemEditsReport { auction, counts, bulk_change, items };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer, change, result })
        })
        .await
        .inspect(|_| self.ends_changed().notify())
    }

    /// Lot numbers of an auction with their items.
    pub(crate) async fn lot_numbers(&self, auction: Uuid) -> PlatformResult<Vec<(String, Uuid)>> {
        let mut lots = Vec::new();
        let mut after = None;
        loop {
            let items = self.store().items(auction, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(lots) };
            lots.extend(items.into_iter().map(|item| (item.lot_number, item.uuid)));
            after = Some(last);
        }
    }

    /// Lot numbers of an auction.
    pub(super) async fn lots_of(&self, auction: Uuid) -> PlatformResult<HashSet<String>> {
        Ok(self.lot_numbers(auction).await?.into_iter().map(|(lot, _)| lot).collect())
    }
}

fn change_one(
    draft: &mut ChangeBuilder<'_>,
    auction: &Auction,
    item: Item,
    entry: &ItemEditEntry,
    lots: &mut HashSet<String>,
    now: Timestamp,
) -> PlatformResult<ItemEditOutcome> {
    expect_version(entry.version, item.version)?;
    let mut changes = edit_item(auction, &item, entry.edit.clone()).map_err(in_the_patch)?;
    let mut edited = item.clone();
    changes.iter().for_each(|change| edited.apply(change));
    if let Some((to, reason)) = &entry.status {
        let command = ItemCommand::ChangeStatus { to: *to, reason: reason.clone() };
        changes.extend(platform_rules::item::decide(auction, &edited, command, now)?);
    }
    if edited.lot_number != item.lot_number && !lots.insert(edited.lot_number) {
        return Err(PlatformError::Taken("lotNumber"));
    }
    if changes.is_empty() {
        return Ok(ItemEditOutcome::Unchanged(item));
    }
    Ok(ItemEditOutcome::Changed(draft.item(auction, item, &changes)))
}

/// The error with pointers below `/patch` of the entry.
fn in_the_patch(error: PlatformError) -> PlatformError {
    match error {
        PlatformError::Invalid(problems) => {
            let below = |problem: Problem| Problem { pointer: format!("/patch{}", problem.pointer), ..problem };
            PlatformError::Invalid(problems.into_iter().map(below).collect())
        }
        PlatformError::Rejected(Rejection::FieldInvalid { field, problem }) => {
            PlatformError::invalid(format!("/patch/{field}"), format!("{field} {problem}"))
        }
        other => other,
    }
}
