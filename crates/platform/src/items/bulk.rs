//! Many items of an auction are changed in one call, each by itself: what can be done is done, in one commit, and the rest is
//! told item by item.

use std::collections::HashSet;

use auction::item::ItemEdit;
use auction::{Auction, Item, ItemCommand};
use contract::ItemStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::ITEMS_READ_MAX;
use super::edit::edit_item;
use crate::deciding::{Decision, expect_version};
use crate::draft::Draft;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{Answering, Outcome};
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// What is wanted of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkEntry {
    /// The item.
    pub item: Uuid,
    /// Its version that the caller saw, if it must be that one.
    pub version: Option<i64>,
    /// What is to be another way.
    pub edit: ItemEdit,
    /// Another status, after the edit, and why.
    pub status: Option<(ItemStatus, Option<String>)>,
}

/// What became of a bulk change.
#[derive(Debug)]
pub struct BulkDone {
    /// The auction.
    pub auction: Auction,
    /// For each entry, in order, the item as it is now, or why nothing was done to it.
    pub items: Vec<(Uuid, Result<Item, PlatformError>)>,
}

impl Platform {
    /// Changes up to 1,000 items of an auction. An entry that is refused does not hold the others up; those that are not
    /// become true together. A lot number counts as taken while another item has it, even one that gives it up in this call.
    ///
    /// Errors: `not_found` (the auction), `invalid` (the list), `precondition_failed` (the auction's version), `busy`. Each
    /// entry has those of [`Platform::change_item`] and [`Platform::change_item_status`].
    pub async fn change_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        entries: &[BulkEntry],
        expected_version: Option<i64>,
        answering: Option<Answering<'_, BulkDone>>,
    ) -> PlatformResult<Outcome<BulkDone>> {
        caller.require(Scope::AuctionsWrite)?;
        let named: Vec<Uuid> = entries.iter().map(|entry| entry.item).collect();
        self.check_named("/items", &named)?;
        self.decide(answering.as_ref(), || async {
            let auction = self.seen_auction(caller, auction).await?;
            expect_version(expected_version, auction.version)?;
            let now = self.time_of(&auction);
            let mut lots = self.lots_in_use(&auction, entries).await?;
            let mut draft = self.draft(&caller.actor, now);
            let mut items = Vec::with_capacity(entries.len());
            let mut counts_moved = false;
            if entries.iter().any(|entry| entry.edit.lot_number.is_some()) {
                // A catalogue that is being imported counts on the numbers that were free when it was looked through.
                self.require_settled(&auction).await?;
                counts_moved = true;
            }
            for entry in entries {
                let found = self.store().item(entry.item).await?.filter(|item| item.auction == auction.uuid);
                let done = match found {
                    Some(item) => match self.require_followed(&auction, &item).await {
                        Ok(()) => change_one(&mut draft, &auction, item, entry, &mut lots, now),
                        Err(following) => Err(following),
                    },
                    None => Err(PlatformError::NotFound("item in this auction")),
                };
                let stays = |item: &Item| matches!(item.status, ItemStatus::Live | ItemStatus::Suspended);
                counts_moved |= entry.status.is_some() && done.as_ref().is_ok_and(stays);
                items.push((entry.item, done));
            }
            // The auction's own guards count these: whoever reconciles it at the same time has to count again.
            let auction = if counts_moved { draft.auction(auction, &[]) } else { auction };
            let customer = auction.customer;
            let result = BulkDone { auction, items };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer, change, result })
        })
        .await
        .inspect(|_| self.ends_moved().notify())
    }

    /// Lot numbers of an auction, if an entry wants one.
    async fn lots_in_use(&self, auction: &Auction, entries: &[BulkEntry]) -> PlatformResult<HashSet<String>> {
        if entries.iter().all(|entry| entry.edit.lot_number.is_none()) {
            return Ok(HashSet::new());
        }
        self.lots_of(auction.uuid).await
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
    draft: &mut Draft<'_>,
    auction: &Auction,
    item: Item,
    entry: &BulkEntry,
    lots: &mut HashSet<String>,
    now: Timestamp,
) -> PlatformResult<Item> {
    expect_version(entry.version, item.version)?;
    let mut changes = edit_item(auction, &item, entry.edit.clone())?;
    let mut edited = item.clone();
    changes.iter().for_each(|change| edited.apply(change));
    if let Some((to, reason)) = &entry.status {
        let command = ItemCommand::ChangeStatus { to: *to, reason: reason.clone() };
        changes.extend(auction::item::decide(auction, &edited, command, now)?);
    }
    if edited.lot_number != item.lot_number && !lots.insert(edited.lot_number) {
        return Err(PlatformError::Taken("lotNumber"));
    }
    Ok(if changes.is_empty() { item } else { draft.item(auction, item, &changes) })
}
