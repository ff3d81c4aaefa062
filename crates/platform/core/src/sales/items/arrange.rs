//! Changes the running order of an auction's items, and their lot numbers.
//!
//! The places of the named items change among each other, so that every place has one item again. Items of one call may
//! exchange places and lot numbers.

use std::collections::HashSet;

use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::Page;
use crate::sales::new_item::NewItem;
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::{Decision, expect_version};
use crate::{Caller, Platform, Scope};

/// The place and the lot number to give to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The item.
    pub item: Uuid,
    /// The version that the caller saw; none for any version.
    pub version: Option<i64>,
    /// Place in the running order, from 0.
    pub position: i64,
    /// Lot number.
    pub lot_number: String,
}

/// An item before and after its arrangement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arranged {
    /// The item before.
    pub before: Item,
    /// The item after.
    pub after: Item,
}

impl Platform {
    /// Gives places and lot numbers to 1 to 1,000 items of an auction, all or none. The new places are the places that
    /// the items have now, in another order. Items that keep both are not in the result.
    ///
    /// Errors: `not_found`, `precondition_failed` (an item's version), `items_following`, `invalid`, `taken` (a lot
    /// number), and those of [`platform_rules::item::arrange`].
    pub async fn arrange_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        placements: &[Placement],
    ) -> PlatformResult<Vec<Arranged>> {
        caller.require(Scope::AuctionsWrite)?;
        let named: Vec<Uuid> = placements.iter().map(|placement| placement.item).collect();
        self.check_named("/items", &named)?;
        check_lot_numbers(placements)?;
        let decided = self.decide(None, || async {
            let auction = self.visible_auction(caller, auction).await?;
            // Another item may be added, or get a number, at the same time: the new version makes that conflict.
            self.require_no_bulk_change(&auction).await?;
            let mut items = Vec::with_capacity(placements.len());
            for placement in placements {
                let found = self.store().item(placement.item).await?.filter(|item| item.auction == auction.uuid);
                let item = found.ok_or(PlatformError::NotFound("item in this auction"))?;
                expect_version(placement.version, item.version)?;
                items.push(item);
            }
            check_positions(&items, placements)?;
            let mut draft = self.build_change(&caller.actor, self.time_of(&auction));
            let auction = draft.auction(auction, &[]);
            let mut result = Vec::with_capacity(items.len());
            for (item, placement) in items.into_iter().zip(placements) {
                result.extend(arrange_one(&mut draft, &auction, item, placement)?);
            }
            let change = draft.finish::<Vec<Arranged>>(None, &result);
            Ok(Decision { customer: auction.customer, change, result })
        });
        decided.await.inspect(|_| self.ends_changed().notify())?.fresh()
    }

    /// The placements that move items before another item, or to the end, in their present order. An item that keeps
    /// its place is not among them.
    ///
    /// Errors: `not_found`, and `invalid` when more than 1,000 items would change their place.
    pub async fn plan_move(
        &self,
        caller: &Caller,
        auction: Uuid,
        moved: &[Uuid],
        before: Option<Uuid>,
    ) -> PlatformResult<Vec<(Item, Placement)>> {
        self.check_named("/items", moved)?;
        let total = self.item_counts(caller, auction).await?.total;
        let mut positions = Vec::with_capacity(moved.len());
        for uuid in moved {
            positions.push(self.item_in(caller, auction, *uuid).await?.position);
        }
        let target = match before {
            Some(uuid) if moved.contains(&uuid) => {
                return Err(PlatformError::invalid("/before", "is one of the lots that move: choose another lot"));
            }
            Some(uuid) => self.item_in(caller, auction, uuid).await?.position,
            None => i64::try_from(total).unwrap_or(i64::MAX),
        };
        let first = positions.iter().copied().fold(target, i64::min);
        let last = positions.iter().copied().fold(target - 1, i64::max);
        let span = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        let items_max = self.config().call_items_max;
        if span > items_max {
            let message = format!(
                "would change the place of {span} lots: at most {items_max} can change in one step; move the lots in several steps"
            );
            return Err(PlatformError::invalid("/before", message));
        }
        let page = Page { after: Some(first - 1), limit: span };
        let items = self.store().items(auction, page).await?;
        let (moving, staying): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|item| moved.contains(&item.uuid));
        let (ahead, behind): (Vec<Item>, Vec<Item>) = staying.into_iter().partition(|item| item.position < target);
        let ordered = ahead.into_iter().chain(moving).chain(behind);
        let placed = (first..).zip(ordered).filter(|(position, item)| *position != item.position);
        let placement = |(position, item): (i64, Item)| {
            let (version, lot_number) = (Some(item.version), item.lot_number.clone());
            let placement = Placement { item: item.uuid, version, position, lot_number };
            (item, placement)
        };
        Ok(placed.map(placement).collect())
    }

    async fn item_in(&self, caller: &Caller, auction: Uuid, uuid: Uuid) -> PlatformResult<Item> {
        let (item, of) = self.item(caller, uuid).await?;
        if of.uuid == auction { Ok(item) } else { Err(PlatformError::NotFound("item in this auction")) }
    }
}

fn check_lot_numbers(placements: &[Placement]) -> PlatformResult<()> {
    let mut seen = HashSet::new();
    for (index, Placement { lot_number, .. }) in placements.iter().enumerate() {
        let pointer = format!("/items/{index}/lotNumber");
        if let Some((_, message)) = NewItem::new(lot_number, "Lot").problems().into_iter().next() {
            return Err(PlatformError::invalid(pointer, message));
        }
        if !seen.insert(lot_number) {
            return Err(PlatformError::invalid(pointer, format!("the lot number {lot_number} occurs twice")));
        }
    }
    Ok(())
}

/// Rejects places that the items do not have now.
fn check_positions(items: &[Item], placements: &[Placement]) -> PlatformResult<()> {
    let before: HashSet<i64> = items.iter().map(|item| item.position).collect();
    let after: HashSet<i64> = placements.iter().map(|placement| placement.position).collect();
    if before == after {
        return Ok(());
    }
    let message = "the lots have other places now: look at the running order again";
    Err(PlatformError::invalid("/items", message))
}

fn arrange_one(
    draft: &mut ChangeBuilder<'_>,
    auction: &Auction,
    before: Item,
    placement: &Placement,
) -> PlatformResult<Option<Arranged>> {
    let lot_number = placement.lot_number.clone();
    let changes = platform_rules::item::arrange(auction, &before, placement.position, lot_number)?;
    if changes.is_empty() {
        return Ok(None);
    }
    let after = draft.item(auction, before.clone(), &changes);
    Ok(Some(Arranged { before, after }))
}
