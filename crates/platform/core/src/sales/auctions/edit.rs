//! Edits the fields of an auction. `docs/run-sales/auctions.md` lists which fields can change when.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionEdit, AuctionKind, EXTENSION_SECONDS_MAX, InternetBids, Item, new_item_end};
use uuid::Uuid;

use super::{ITEMS_READ_MAX, charges_problems, currency_problem, stagger_problems};
use crate::customers::addresses::AddressInput;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{BulkOperation, ItemCounts, Page};
use crate::sales::attachments;
use crate::sales::new_item::TITLE_CHARS_MAX;
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::input::{check_text, is_time_zone, require_usable};
use crate::{Caller, Platform, Scope};

/// The fields of an auction to change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctionPatch {
    /// All fields but the address.
    pub edit: AuctionEdit,
    /// The new address; with the id of the present address, it replaces that one. An inner none removes the address.
    pub address: Option<Option<AddressInput>>,
}

impl Platform {
    /// Changes the fields that the patch names. When the closing time or the stagger changes, the planned ends of items
    /// change with it; an item with an end of its own keeps it. The items of a large auction change in steps
    /// ([`crate::sales::bulk_change`]), and the call returns after the last step. New terms of a large LIVE auction
    /// apply once every bid that was decided on the old terms has been committed or refused. `expected_version` is the
    /// version that the caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, `items_following`, `invalid`, and those of
    /// [`platform_rules::edit::edit`] and [`platform_rules::item::move_plan`].
    pub async fn change_auction(
        &self,
        caller: &Caller,
        uuid: Uuid,
        patch: &AuctionPatch,
        expected_version: Option<i64>,
    ) -> PlatformResult<Auction> {
        caller.require(Scope::AuctionsWrite)?;
        let outcome = self
            .decide(None, || async {
                let before = self.visible_auction(caller, uuid).await?;
                expect_version(expected_version, before.version)?;
                self.require_no_bulk_change(&before).await?;
                require_usable(problems(&before, &patch.edit), None)?;
                let mut edit = patch.edit.clone();
                let mut written = None;
                if let Some(entry) = &patch.address {
                    edit.address_id = Some(None);
                    if let Some(entry) = entry {
                        let (id, address) = self.enter_address(before.customer, entry, before.address_id).await?;
                        (edit.address_id, written) = (Some(Some(id)), address);
                    }
                }
                let counts = self.store().item_counts(uuid).await?;
                let changes = platform_rules::edit::edit(&before, &counts, edit.clone())?;
                let customer = before.customer;
                let now = self.time_of(&before);
                let mut draft = self.build_change(&caller.actor, now);
                if changes.is_empty() && written.is_none() {
                    let change = draft.finish::<Auction>(None, &before);
                    return Ok(Decision { customer, change, result: before });
                }
                let mut edited = before.clone();
                changes.iter().for_each(|change| edited.apply(change));
                if edited.starts_at != before.starts_at {
                    self.require_ends_after_start(&before, &edited).await?;
                }
                let changes_terms = platform_rules::edit::changes_terms(&before, &edited);
                // An edit with an address is one commit, because the address must not be stored without the edit.
                let is_held = changes_terms && !self.fits_first_step(&counts) && written.is_none();
                draft.address(written);
                let auction = if is_held {
                    let auction = draft.auction(before, &platform_rules::edit::begin_terms_edit());
                    let operation = BulkOperation::EditTerms { edit: Box::new(edit) };
                    self.begin_bulk_change(&mut draft, &auction, (operation, &caller.actor), &counts, now).await?;
                    auction
                } else {
                    let auction = draft.auction(before.clone(), &changes);
                    if changes_terms {
                        self.decide_bids_again(&mut draft, &auction).await?;
                    } else if (before.ends_at, before.stagger) != (auction.ends_at, auction.stagger) {
                        let operation = BulkOperation::ReplanEnds { ends_at: before.ends_at, stagger: before.stagger };
                        self.replan_ends(&mut draft, &auction, (operation, &caller.actor), &counts, now).await?;
                    }
                    auction
                };
                let change = draft.finish::<Auction>(None, &auction);
                Ok(Decision { customer, change, result: auction })
            })
            .await
            .inspect(|_| self.ends_changed().notify())?;
        let auction = outcome.fresh()?;
        self.run_bulk_change_to_end(uuid).await?;
        if auction.returning { self.wait_for_terms_edit(uuid, patch).await } else { Ok(auction) }
    }

    /// The auction after a bulk change of its terms. Errors: `busy` when a bid was accepted before it began, so that
    /// the terms did not change.
    async fn wait_for_terms_edit(&self, uuid: Uuid, patch: &AuctionPatch) -> PlatformResult<Auction> {
        let auction = self.store().auction(uuid).await?.ok_or(PlatformError::NotFound("auction"))?;
        let counts = self.store().item_counts(uuid).await?;
        let is_missing = !platform_rules::edit::edit(&auction, &counts, patch.edit.clone())?.is_empty();
        if is_missing { Err(PlatformError::Busy) } else { Ok(auction) }
    }

    /// Replans the ends of the items that follow the auction's plan, unless the rules reject the new end of any of
    /// them.
    async fn replan_ends(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: &Auction,
        (operation, actor): (BulkOperation, &str),
        counts: &ItemCounts,
        now: Timestamp,
    ) -> PlatformResult<()> {
        if auction.kind != AuctionKind::Timed {
            return Ok(());
        }
        self.count_affected_items(auction, &operation, now).await?;
        self.begin_bulk_change(draft, auction, (operation, actor), counts, now).await
    }

    /// Rejects a start of a timed auction that is not before the end of an item with an end of its own.
    async fn require_ends_after_start(&self, before: &Auction, edited: &Auction) -> PlatformResult<()> {
        let Some(starts_at) = edited.starts_at.filter(|_| edited.kind == AuctionKind::Timed) else { return Ok(()) };
        let has_own_end = |item: &Item| item.end_time != new_item_end(before, item.position);
        let is_too_early = |item: &&Item| {
            may_be_sold(item.status) && has_own_end(item) && item.end_time.is_some_and(|end| end <= starts_at)
        };
        let mut after = None;
        loop {
            let items = self.store().items(edited.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last() else { return Ok(()) };
            after = Some(last.position);
            if let Some(item) = items.iter().find(is_too_early) {
                let message = format!("is not before the end of lot {}: correct that one first", item.lot_number);
                return Err(PlatformError::invalid("/startsAt", message));
            }
        }
    }

    /// Raises the versions of LIVE items and of those that did not sell, so that bids and answers to offers that were decided on the
    /// old terms conflict and are decided again.
    async fn decide_bids_again(&self, draft: &mut ChangeBuilder<'_>, auction: &Auction) -> PlatformResult<()> {
        let mut after = None;
        loop {
            let items = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(()) };
            for item in items.into_iter().filter(|item| can_be_bought(item.status)) {
                draft.item(auction, item, &[]);
            }
            after = Some(last);
        }
    }
}

/// True while a bidder can buy an item with this status: by a bid, or by accepting an offer of the house.
pub(crate) fn can_be_bought(status: ItemStatus) -> bool {
    matches!(status, ItemStatus::Live | ItemStatus::Passed | ItemStatus::Unsold)
}

/// True while an item with this status can still be sold.
fn may_be_sold(status: ItemStatus) -> bool {
    matches!(status, ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended)
}

/// The problems of the values by themselves. The rules check the rest.
pub fn problems(auction: &Auction, edit: &AuctionEdit) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem = |pointer: &str, message: String| problems.push(Problem::new(pointer, message));
    if let Some(Err(message)) =
        edit.title.as_deref().filter(|title| !title.is_empty()).map(|title| check_text(title, TITLE_CHARS_MAX))
    {
        problem("/title", message);
    }
    if let Some(message) = edit.currency.as_deref().and_then(currency_problem) {
        problem("/currency", message.into());
    }
    if edit.time_zone.as_deref().is_some_and(|zone| !is_time_zone(zone)) {
        problem("/timeZone", "is not the name of an IANA time zone, such as Europe/London".into());
    }
    if edit.extension_seconds.flatten().is_some_and(|seconds| !(1..=EXTENSION_SECONDS_MAX).contains(&seconds)) {
        problem("/extensionSeconds", format!("must be at most {EXTENSION_SECONDS_MAX}"));
    }
    if edit.internet_bids == Some(InternetBids::AcceptedAtOnce) && auction.kind != AuctionKind::Webcast {
        problem("/internetBids", "is for webcasts only: leave it out".into());
    }
    let (starts_at, ends_at) = (edit.starts_at.unwrap_or(auction.starts_at), edit.ends_at.unwrap_or(auction.ends_at));
    if starts_at.zip(ends_at).is_some_and(|(starts_at, ends_at)| starts_at >= ends_at) {
        let pointer = if edit.ends_at.is_some() { "/endsAt" } else { "/startsAt" };
        problem(pointer, "leaves no time between startsAt and endsAt".into());
    }
    problems.extend(edit.charges.iter().flat_map(charges_problems));
    problems.extend(edit.stagger.flatten().into_iter().flat_map(|stagger| stagger_problems(auction.kind, stagger)));
    problems.extend(attachments::problems("/attachments", edit.attachments.as_deref().unwrap_or_default()));
    problems
}
