//! Copies an auction as a DRAFT, with or without its items, so that it can be held again.
//!
//! The commit that creates the copy contains the first items. The other items of a large auction are staged before that
//! commit, and the copy's bulk change inserts them afterwards ([`crate::sales::bulk_change`]), as in an import. If the
//! copy fails, the staged items are deleted.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_rules::lifecycle::{self, AuctionCommand};
use platform_rules::{Auction, Hidden, Item, Rejection, TestClock, WebcastPhase};
use uuid::Uuid;

use super::shift::{Shift, TimeShift};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{BulkChange, BulkChangeStep, BulkOperation, ItemCounts, Page};
use crate::sales::bulk_change::StagedBatch;
use crate::sales::items::ItemOrigin;
use crate::sales::new_item::{NewItem, TITLE_CHARS_MAX};
use crate::steps::decide::Decision;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 1_000;

/// Bulk changes that a repeated call searches for its own, at most.
const COPIES_MAX: usize = 64;

/// Which items a copy gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedItems {
    /// No items.
    None,
    /// All items but WITHDRAWN ones, in running order, as DRAFT and without bids.
    All,
}

/// The input for a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionCopy {
    /// The title; none keeps the title.
    pub title: Option<String>,
    /// By how much start, closing time and ends are shifted.
    pub shift: Shift,
    /// Which items it gets.
    pub items: CopiedItems,
}

/// What a copy is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyPurpose {
    /// To be held.
    Sale,
    /// To rehearse a webcast.
    Rehearsal,
}

/// The result of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedAuction {
    /// The copy.
    pub auction: Auction,
    /// The counts of its items.
    pub items: ItemCounts,
}

/// The items of a copy that is being made.
struct CopyProgress {
    /// The UUID that they are staged under.
    import: Uuid,
    /// Items in the commit that creates the copy.
    first: Vec<NewItem>,
    /// Staged chunks.
    chunks: i64,
    /// All items.
    items: i64,
}

impl Platform {
    /// Copies an auction with all its fields. The copy is a DRAFT, and the customer receives the event of its creation.
    /// The call returns after all items are inserted.
    ///
    /// Errors: `not_found`, `items_following`, `invalid`, `disk_full`, and those of [`lifecycle::decide`] and
    /// [`platform_rules::item::decide`].
    pub async fn copy_auction(
        &self,
        caller: &Caller,
        uuid: Uuid,
        copy: &AuctionCopy,
        answering: Option<IdempotentRequest<'_, CopiedAuction>>,
    ) -> PlatformResult<Outcome<CopiedAuction>> {
        self.copy_for(caller, uuid, (copy, CopyPurpose::Sale), answering).await
    }

    /// Copies an auction to be held again, or rehearsed.
    pub(super) async fn copy_for(
        &self,
        caller: &Caller,
        uuid: Uuid,
        (copy, purpose): (&AuctionCopy, CopyPurpose),
        answering: Option<IdempotentRequest<'_, CopiedAuction>>,
    ) -> PlatformResult<Outcome<CopiedAuction>> {
        caller.require(Scope::AuctionsWrite)?;
        if let Some(Err(message)) = copy.title.as_deref().map(|title| check_text(title, TITLE_CHARS_MAX)) {
            return Err(PlatformError::invalid("/title", message));
        }
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            self.finish_copies(caller).await?;
            return Ok(Outcome::Replayed(answer));
        }
        self.config().disk_reserve.check()?;
        let source = self.visible_auction(caller, uuid).await?;
        self.require_no_bulk_change(&source).await?;
        let shifting = copy.shift.of(&source)?;
        let now = self.now();
        let mut auction = self.copied(&source, (copy, &shifting), now)?;
        if purpose == CopyPurpose::Rehearsal {
            let clock = Some(TestClock::at(now));
            auction = Auction { clock, rehearsal: true, starts_at: Some(now), ends_at: None, ..auction };
        }
        let mut copying = CopyProgress { import: self.ids().uuid_v7(), first: Vec::new(), chunks: 0, items: 0 };
        let outcome = self.copy_as(caller, (&auction, copy.items), &shifting, &mut copying, answering).await;
        let outcome = outcome.map_err(|error| shifting.refused(error));
        // If the outcome is unknown, the copy may exist and need its staged items.
        let is_uncertain = matches!(outcome, Err(PlatformError::Unavailable(_) | PlatformError::Internal(_)));
        if copying.chunks > 0 && !is_uncertain {
            self.delete_staged_chunks(copying.import).await?;
        }
        if let Ok(Outcome::Fresh(copied)) = &outcome {
            self.copy_facts(caller, &source, &copied.auction).await?;
        }
        outcome
    }

    async fn copy_as(
        &self,
        caller: &Caller,
        (auction, items): (&Auction, CopiedItems),
        shifting: &TimeShift<'_>,
        copying: &mut CopyProgress,
        answering: Option<IdempotentRequest<'_, CopiedAuction>>,
    ) -> PlatformResult<Outcome<CopiedAuction>> {
        if items == CopiedItems::All {
            self.read_copies(auction, shifting, copying).await?;
        }
        let copying = &*copying;
        let decided = self.decide(answering.as_ref(), || async {
            let now = auction.created_at;
            let command = AuctionCommand::Create { status: AuctionStatus::Draft };
            let changes = lifecycle::decide(auction, &ItemCounts::default(), command, now)?;
            let mut draft = self.build_change(&caller.actor, now);
            let auction = draft.auction(auction.clone(), &changes);
            let mut copies = Vec::with_capacity(copying.first.len());
            for (position, new) in (0..).zip(&copying.first) {
                let state = self.new_item(&auction, new, position, now);
                let changes =
                    platform_rules::item::decide(&auction, &state, ItemOrigin::Call.command(new.status), now)?;
                let item = draft.item(&auction, state, &changes);
                copies.extend(new.images_of.map(|original| (original, item)));
            }
            draft.images(self.copied_images(&copies, now).await?);
            if copying.chunks > 0 {
                let bulk_change = BulkChange {
                    auction: auction.uuid,
                    customer: auction.customer,
                    operation: BulkOperation::Copy { import: copying.import },
                    actor: caller.actor.clone(),
                    at: now,
                    step: 0,
                    through: copying.items_of_first() - 1,
                    until: copying.items - 1,
                };
                draft.bulk_change(BulkChangeStep {
                    auction: auction.uuid,
                    expected_step: None,
                    bulk_change: Some(bulk_change),
                    entered: None,
                });
            }
            // The call returns after all items are inserted.
            let items = ItemCounts { total: copying.items.unsigned_abs(), ..ItemCounts::default() };
            let (customer, result) = (auction.customer, CopiedAuction { auction, items });
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer, change, result })
        });
        let outcome = decided.await?;
        if matches!(outcome, Outcome::Fresh(_)) {
            self.run_bulk_change_to_end(auction.uuid).await?;
        }
        Ok(outcome)
    }

    /// Finishes the bulk changes of all copies that this caller began.
    async fn finish_copies(&self, caller: &Caller) -> PlatformResult<()> {
        for bulk_change in self.store().bulk_changes(COPIES_MAX).await? {
            if bulk_change.actor == caller.actor && matches!(bulk_change.operation, BulkOperation::Copy { .. }) {
                self.run_bulk_change_to_end(bulk_change.auction).await?;
            }
        }
        Ok(())
    }

    fn copied(
        &self,
        source: &Auction,
        (copy, shifting): (&AuctionCopy, &TimeShift<'_>),
        now: Timestamp,
    ) -> PlatformResult<Auction> {
        let shifted = |at: Option<Timestamp>| at.map(|at| shifting.time(at)).transpose();
        Ok(Auction {
            uuid: self.ids().uuid_v7(),
            title: copy.title.clone().unwrap_or_else(|| source.title.clone()),
            starts_at: shifted(source.starts_at)?,
            ends_at: shifted(source.ends_at)?,
            status: AuctionStatus::Draft,
            phase: WebcastPhase::default(),
            in_ring: None,
            last_in_ring: None,
            ring_position: None,
            returning: false,
            was_live: false,
            rehearsal: false,
            sequence: 0,
            version: 0,
            created_at: now,
            clock: source.clock.map(|_| TestClock::at(now)),
            ..source.clone()
        })
    }

    /// Reads the items to copy in their current state and stages those that do not fit into the copy's own commit. It
    /// validates all of them here, because the background worker that inserts the staged ones has no caller to answer.
    async fn read_copies(
        &self,
        copied: &Auction,
        shifting: &TimeShift<'_>,
        copying: &mut CopyProgress,
    ) -> PlatformResult<()> {
        let (first_max, items_max) =
            (self.config().bulk_changes.first_items_max, self.config().bulk_changes.items_max.max(1));
        let (mut after, mut chunk) = (None, StagedBatch::default());
        loop {
            let items = self.store().items(shifting.source.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { break };
            for item in items.iter().filter(|item| item.status != ItemStatus::Withdrawn) {
                let new = as_entered(item, shifting)?;
                let state = self.new_item(copied, &new, copying.items, copied.created_at);
                platform_rules::item::decide(copied, &state, ItemOrigin::Call.command(new.status), copied.created_at)
                    .map_err(|refusal| refused_lot(&new.lot_number, refusal))?;
                copying.items += 1;
                if copying.first.len() < first_max {
                    copying.first.push(new);
                    continue;
                }
                chunk.add(new);
                if chunk.is_full(items_max) {
                    self.stage_copies(copying, std::mem::take(&mut chunk)).await?;
                }
            }
            after = Some(last);
        }
        if chunk.items.is_empty() { Ok(()) } else { self.stage_copies(copying, chunk).await }
    }

    async fn stage_copies(&self, copying: &mut CopyProgress, chunk: StagedBatch) -> PlatformResult<()> {
        self.store().stage_chunk(copying.import, copying.chunks, chunk.items, self.now()).await?;
        copying.chunks += 1;
        Ok(())
    }
}

impl CopyProgress {
    fn items_of_first(&self) -> i64 {
        i64::try_from(self.first.len()).unwrap_or(i64::MAX)
    }
}

/// A rejected field of a lot as a problem of the call, which names the lot because the call has no such field.
fn refused_lot(lot_number: &str, refusal: Rejection) -> PlatformError {
    match refusal {
        Rejection::FieldInvalid { field, problem } => {
            PlatformError::invalid("", format!("lot {lot_number}: {field} {problem}"))
        }
        other => other.into(),
    }
}

/// The input that would create the item again, with a shifted end.
fn as_entered(item: &Item, shifting: &TimeShift<'_>) -> PlatformResult<NewItem> {
    Ok(NewItem {
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        description: item.description.clone(),
        category: item.category.clone(),
        image_url: item.image_url.clone(),
        attachments: item.attachments.clone(),
        low_estimate: item.low_estimate,
        high_estimate: item.high_estimate,
        opening_bid: item.opening_bid,
        reserve: item.reserve.map(Hidden::reveal),
        buy_now: item.buy_now,
        vendor: item.vendor,
        fixed_increment: item.fixed_increment,
        end_time: item.end_time.map(|end| shifting.end(end, item.position)).transpose()?,
        status: ItemStatus::Draft,
        images_of: Some(item.uuid),
    })
}
