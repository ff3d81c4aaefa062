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
use crate::change_builder::ChangeBuilder;
use crate::decide::{Decision, expect_version};
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::port::{BulkChange, ItemCounts, Page};
use crate::{Caller, Platform, Scope};

/// What is said of an item that an entry before has named.
const NAMED_TWICE: &str = "has an entry before: say all that is wanted of an item in one";

/// What is wanted of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemEditEntry {
    /// The item.
    pub item: Uuid,
    /// Its version that the caller saw, if it must be that one.
    pub version: Option<i64>,
    /// What is to be another way.
    pub edit: ItemEdit,
    /// Another status, after the edit, and why.
    pub status: Option<(ItemStatus, Option<String>)>,
}

/// An entry that says nothing that could be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEntry {
    /// The item, if it is named.
    pub item: Option<Uuid>,
    /// What is wrong with it; pointers begin at the entry.
    pub problems: Vec<Problem>,
}

/// An item whose entry was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemEditOutcome {
    /// As it is now.
    Changed(Item),
    /// It was so already: nothing was done, its version stays.
    Unchanged(Item),
}

/// What became of a bulk change.
#[derive(Debug)]
pub struct ItemEditsReport {
    /// The auction.
    pub auction: Auction,
    /// Its items then, counted.
    pub counts: ItemCounts,
    /// What its items follow, while they do.
    pub bulk_change: Option<BulkChange>,
    /// For each entry, in order, the item as it is now, or why nothing was done to it; pointers of the input's problems
    /// begin at the entry.
    pub items: Vec<(Option<Uuid>, PlatformResult<ItemEditOutcome>)>,
}

impl ItemEditOutcome {
    /// As it is now.
    pub fn item(&self) -> &Item {
        match self {
            Self::Changed(item) | Self::Unchanged(item) => item,
        }
    }
}

impl Platform {
    /// Changes up to 1,000 items of an auction. An entry that is refused, or could not be read, does not hold the
    /// others up; those that are not become true together. Of two entries about one item the second is refused. A lot
    /// number counts as taken while another item has it, even one that gives it up in this call.
    ///
    /// Errors: `not_found` (the auction), `invalid` (how many there are), `precondition_failed` (the auction's
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
            let mut counts_moved = false;
            if wants_lot {
                // A catalogue that is being imported counts on the numbers that were free when it was looked through.
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
                counts_moved |= entry.status.is_some() && done.as_ref().is_ok_and(stays);
                items.push((Some(entry.item), done));
            }
            counts_moved |= wants_lot && items.iter().any(|(_, done)| matches!(done, Ok(ItemEditOutcome::Changed(_))));
            // The auction's status depends on these counts and lot numbers are unique within it. The new version makes
            // a concurrent command on the auction conflict, so that it counts and numbers again.
            let auction = if counts_moved { draft.auction(auction, &[]) } else { auction };
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

    /// Lot numbers of an auction.
    pub(super) async fn lots_of(&self, auction: Uuid) -> PlatformResult<HashSet<String>> {
        let mut lots = HashSet::new();
        let mut after = None;
        loop {
            let items = self.store().items(auction, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(lots) };
            lots.extend(items.into_iter().map(|item| item.lot_number));
            after = Some(last);
        }
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

/// What is entered stands below `patch` of an entry.
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
