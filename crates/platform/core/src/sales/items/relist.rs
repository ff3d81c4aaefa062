//! Relists unsold items in another auction. The old and the new item refer to each other.

use std::collections::HashSet;

use contract::ItemStatus;
use platform_rules::item::{NewLot, relist};
use platform_rules::{Auction, Item, Rejection};
use uuid::Uuid;

use super::ITEMS_READ_MAX;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{ItemCounts, Page};
use crate::sales::new_item::LOT_NUMBER_CHARS_MAX;
use crate::steps::decide::Decision;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// An item to relist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelistedLot {
    /// The unsold item.
    pub item: Uuid,
    /// Its lot number in the other auction; none for the next free one.
    pub lot_number: Option<String>,
}

/// The input of a relisting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relist {
    /// The auction that receives the items, of the same customer and currency.
    pub into: Uuid,
    /// The items in their new order, at most 1,000; none for all UNSOLD items that are not relisted yet.
    pub items: Option<Vec<RelistedLot>>,
    /// DRAFT, or LIVE when the other auction is LIVE.
    pub status: ItemStatus,
}

/// The result of a relisting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relisted {
    /// The auction that received the items.
    pub into: Auction,
    /// The counts of its items.
    pub counts: ItemCounts,
    /// The new items in running order; `relisted_from` of each names the old item.
    pub items: Vec<Item>,
}

impl Platform {
    /// Relists unsold items of an auction after the last item of another, all or none.
    ///
    /// Errors: `not_found` (either auction, or an item), `invalid`, `taken` (a lot number), `nothing_to_relist`,
    /// `disk_full`, and those of [`relist`].
    pub async fn relist_items(
        &self,
        caller: &Caller,
        from: Uuid,
        wanted: &Relist,
        answering: Option<IdempotentRequest<'_, Relisted>>,
    ) -> PlatformResult<Outcome<Relisted>> {
        caller.require(Scope::AuctionsWrite)?;
        if let Some(items) = &wanted.items {
            let named: Vec<Uuid> = items.iter().map(|lot| lot.item).collect();
            self.check_named("/items", &named)?;
            for (index, lot) in items.iter().enumerate() {
                if let Some(Err(message)) = lot.lot_number.as_deref().map(|lot| check_text(lot, LOT_NUMBER_CHARS_MAX)) {
                    return Err(PlatformError::invalid(format!("/items/{index}/lotNumber"), message));
                }
            }
        }
        self.config().disk_reserve.check()?;
        self.decide(answering.as_ref(), || async {
            let from = self.visible_auction(caller, from).await?;
            let into = self.visible_auction(caller, wanted.into).await?;
            self.require_no_bulk_change(&from).await?;
            self.require_no_bulk_change(&into).await?;
            let unsold = self.unsold(&from, wanted).await?;
            let mut counts = self.store().item_counts(into.uuid).await?;
            let first = i64::try_from(counts.total).unwrap_or(i64::MAX);
            let items_max = self.config().auction_items_max;
            if usize::try_from(first).unwrap_or(usize::MAX).saturating_add(unsold.len()) > items_max {
                let message = format!("has {first} items: at most {items_max} are possible");
                return Err(PlatformError::invalid("/into", message));
            }
            let mut lots = self.lots_of(into.uuid).await?;
            let now = self.time_of(&into);
            let mut draft = self.build_change(&caller.actor, now);
            let into = draft.auction(into, &[]);
            let (mut items, mut copies) = (Vec::with_capacity(unsold.len()), Vec::with_capacity(unsold.len()));
            for (position, (item, lot_number)) in (first..).zip(unsold) {
                let lot_number = match lot_number {
                    Some(given) if lots.insert(given.clone()) => given,
                    Some(_) => return Err(PlatformError::Taken("lotNumber")),
                    None => next_free(&mut lots, position),
                };
                let original = item.uuid;
                let lot = NewLot { uuid: self.ids().uuid_v7(), lot_number, position, status: wanted.status };
                let relisting = relist((&from, &item), &into, lot, now)?;
                draft.item(&from, item, &relisting.unsold);
                let item = draft.item(&into, relisting.item, &relisting.created);
                counts = counts.with(&item);
                copies.push((original, item.clone()));
                items.push(item);
            }
            draft.images(self.copied_images(&copies, now).await?);
            let customer = into.customer;
            let result = Relisted { into, counts, items };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer, change, result })
        })
        .await
        .inspect(|_| self.ends_changed().notify())
    }

    /// How many items of an auction can be relisted: those that are UNSOLD and not relisted yet. One call relists at most the number
    /// of items that any call may name, and the next call goes on.
    ///
    /// Errors: `not_found`.
    pub async fn count_relistable(&self, caller: &Caller, auction: Uuid) -> PlatformResult<u64> {
        self.auction(caller, auction).await?;
        let (mut count, mut after) = (0, None);
        loop {
            let page = Page { after, limit: ITEMS_READ_MAX };
            let items = self.store().items_with_status(auction, &[ItemStatus::Unsold], page).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(count) };
            count += items.iter().filter(|item| item.relisted_as.is_none()).count() as u64;
            after = Some(last);
        }
    }

    async fn unsold(&self, from: &Auction, wanted: &Relist) -> PlatformResult<Vec<(Item, Option<String>)>> {
        let Some(named) = &wanted.items else {
            let unsold = self.all_unsold(from).await?;
            return if unsold.is_empty() { Err(Rejection::NothingToRelist.into()) } else { Ok(unsold) };
        };
        let mut unsold = Vec::with_capacity(named.len());
        for lot in named {
            let found = self.store().item(lot.item).await?.filter(|item| item.auction == from.uuid);
            unsold.push((found.ok_or(PlatformError::NotFound("item in this auction"))?, lot.lot_number.clone()));
        }
        Ok(unsold)
    }

    async fn all_unsold(&self, from: &Auction) -> PlatformResult<Vec<(Item, Option<String>)>> {
        let items_max = self.config().call_items_max;
        let (mut unsold, mut after) = (Vec::new(), None);
        loop {
            let items = self.store().items(from.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(unsold) };
            let free = |item: &Item| item.status == ItemStatus::Unsold && item.relisted_as.is_none();
            // One call relists at most this number of items; the next call continues with the others.
            let room = items_max - unsold.len();
            unsold.extend(items.into_iter().filter(free).take(room).map(|item| (item, None)));
            if unsold.len() == items_max {
                return Ok(unsold);
            }
            after = Some(last);
        }
    }
}

/// The first free lot number from the item's position on. The loop tries one number more than the auction has items, so
/// that one of them is free.
fn next_free(lots: &mut HashSet<String>, position: i64) -> String {
    let mut number = position.saturating_add(1);
    for _ in 0..=lots.len() {
        let lot = number.to_string();
        if lots.insert(lot.clone()) {
            return lot;
        }
        number = number.saturating_add(1);
    }
    number.to_string()
}
