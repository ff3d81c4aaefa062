//! Edits the fields of an item. `docs/run-sales/auctions.md` lists which fields can change when.

use contract::ItemStatus;
use platform_rules::item::ItemEdit;
use platform_rules::{Auction, Item, ItemChange, Rejection, new_item_end};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult, Problem};
use crate::sales::attachments;
use crate::sales::new_item::NewItem;
use crate::steps::decide::{Decision, expect_version};
use crate::{Caller, Platform, Scope};

impl Platform {
    /// Changes the fields that the edit names. An item whose own end is removed gets the end of the auction's plan.
    /// `expected_version` is the version of the item that the caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, `invalid`, `taken` (the lot number), and those of
    /// [`platform_rules::item::edit`].
    pub async fn change_item(
        &self,
        caller: &Caller,
        uuid: Uuid,
        edit: &ItemEdit,
        expected_version: Option<i64>,
    ) -> PlatformResult<(Item, Auction)> {
        caller.require(Scope::AuctionsWrite)?;
        let queue = self.item_queue(uuid)?;
        let outcome = queue
            .decide(None, || async {
                let (item, auction) = queue.visible_item(caller).await?;
                expect_version(expected_version, item.version)?;
                let customer = item.customer;
                self.require_item_not_pending(&auction, &item).await?;
                let changes = edit_item(&auction, &item, edit.clone())?;
                let mut draft = self.build_change(&caller.actor, self.time_of(&auction));
                let lot_number = item.lot_number.clone();
                let item = if changes.is_empty() { item } else { draft.item(&auction, item, &changes) };
                let auction = if item.lot_number == lot_number {
                    auction
                } else {
                    // An import in progress has checked its lot numbers against the auction's present ones.
                    self.require_no_bulk_change(&auction).await?;
                    draft.auction(auction, &[])
                };
                let result = (item, auction);
                let change = draft.finish::<(Item, Auction)>(None, &result);
                Ok(Decision { customer, change, result })
            })
            .await?;
        outcome.fresh()
    }
}

/// Checks an edit like new input, then by the rules, and returns its changes.
pub(crate) fn edit_item(auction: &Auction, item: &Item, edit: ItemEdit) -> PlatformResult<Vec<ItemChange>> {
    let edit = with_planned_end(auction, item, edit);
    if problems_of_values(item, &edit).is_empty() {
        Ok(platform_rules::item::edit(auction, item, edit)?)
    } else {
        Err(PlatformError::Invalid(problems(auction, item, &edit)))
    }
}

/// All problems of the values of an edit, with that of a field that only the rules refuse.
pub fn problems(auction: &Auction, item: &Item, edit: &ItemEdit) -> Vec<Problem> {
    let edit = with_planned_end(auction, item, edit.clone());
    let mut problems = problems_of_values(item, &edit);
    if let Err(Rejection::FieldInvalid { field, problem }) = platform_rules::item::edit(auction, item, edit) {
        let pointer = format!("/{field}");
        if problems.iter().all(|known| known.pointer != pointer) {
            problems.push(Problem::new(pointer, problem));
        }
    }
    problems
}

fn with_planned_end(auction: &Auction, item: &Item, mut edit: ItemEdit) -> ItemEdit {
    if edit.end_time == Some(None) {
        edit.end_time = Some(new_item_end(auction, item.position));
    }
    edit
}

fn problems_of_values(item: &Item, edit: &ItemEdit) -> Vec<Problem> {
    let mut edited = item.clone();
    edit.apply_to(&mut edited);
    if edited == *item {
        return Vec::new();
    }
    let entered = NewItem { status: ItemStatus::Draft, ..as_entered(&edited) };
    let wrong = entered.problems().into_iter();
    let mut problems: Vec<Problem> =
        wrong.map(|(field, message)| Problem::new(format!("/{}", field.json()), message)).collect();
    problems.extend(attachments::problems("/attachments", &edited.attachments));
    problems
}

/// The input that would create the item.
fn as_entered(item: &Item) -> NewItem {
    NewItem {
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        description: item.description.clone(),
        category: item.category.clone(),
        image_url: item.image_url.clone(),
        attachments: Vec::new(),
        low_estimate: item.low_estimate,
        high_estimate: item.high_estimate,
        opening_bid: item.opening_bid,
        reserve: item.reserve.map(platform_rules::Hidden::reveal),
        buy_now: item.buy_now,
        vendor: item.vendor,
        fixed_increment: item.fixed_increment,
        end_time: item.end_time,
        status: item.status,
        images_of: None,
    }
}
