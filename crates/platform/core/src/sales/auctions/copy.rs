//! An auction is held again: a copy as a DRAFT, with or without its items.
//!
//! The first items are there with the copy itself. Those of a large auction behind them are staged as they are read,
//! and one small commit makes the copy true; its bulk change brings them in ([`crate::bulk changes`]), as those of an
//! import. What was staged for a copy that did not come to be is taken away.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_rules::lifecycle::{self, AuctionCommand};
use platform_rules::{Auction, Hidden, Item, Rejection, TestClock, WebcastPhase};
use uuid::Uuid;

use super::shift::{Shift, TimeShift};
use crate::decide::Decision;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::input::check_text;
use crate::port::{BulkChange, BulkChangeStep, BulkOperation, ItemCounts, Page};
use crate::sales::bulk_change::StagedBatch;
use crate::sales::items::ItemOrigin;
use crate::sales::new_item::{NewItem, TITLE_CHARS_MAX};
use crate::{Caller, Platform, Scope};

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 1_000;

/// Bulk changes that are searched for that of a repeated call.
const COPIES_MAX: usize = 64;

/// What of an auction's items a copy gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedItems {
    /// Nothing.
    None,
    /// All but the WITHDRAWN ones, in their order, as DRAFT and without bids.
    All,
}

/// How an auction is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionCopy {
    /// Another title; none for the same.
    pub title: Option<String>,
    /// How much later start, closing time and ends are.
    pub shift: Shift,
    /// What of its items it gets.
    pub items: CopiedItems,
}

/// An auction that was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedAuction {
    /// The copy.
    pub auction: Auction,
    /// Its items, counted.
    pub items: ItemCounts,
}

/// The items of a copy on their way.
struct CopyProgress {
    /// What they are staged as.
    import: Uuid,
    /// Those that come with the copy itself.
    first: Vec<NewItem>,
    /// Pieces staged.
    pieces: i64,
    /// All of them.
    items: i64,
}

impl Platform {
    /// Copies an auction with everything that was entered about it. The copy is a DRAFT, and announced as created. When
    /// it is answered, all of its items are there.
    ///
    /// Errors: `not_found`, `items_following`, `invalid`, and those of [`lifecycle::decide`] and
    /// [`platform_rules::item::decide`].
    pub async fn copy_auction(
        &self,
        caller: &Caller,
        uuid: Uuid,
        copy: &AuctionCopy,
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
        let source = self.visible_auction(caller, uuid).await?;
        self.require_no_bulk_change(&source).await?;
        let shifting = copy.shift.of(&source)?;
        let auction = self.copied(&source, (copy, &shifting), self.now())?;
        let mut copying = CopyProgress { import: self.ids().uuid_v7(), first: Vec::new(), pieces: 0, items: 0 };
        let outcome = self.copy_as(caller, (&auction, copy.items), &shifting, &mut copying, answering).await;
        let outcome = outcome.map_err(|error| shifting.refused(error));
        // Of what may have become true all the same nothing is taken away.
        let is_uncertain = matches!(outcome, Err(PlatformError::Unavailable(_) | PlatformError::Internal(_)));
        if copying.pieces > 0 && !is_uncertain {
            self.delete_staged_chunks(copying.import).await?;
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
            for (position, new) in (0..).zip(&copying.first) {
                let state = self.new_item(&auction, new, position, now);
                let changes =
                    platform_rules::item::decide(&auction, &state, ItemOrigin::Call.command(new.status), now)?;
                draft.item(&auction, state, &changes);
            }
            if copying.pieces > 0 {
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
            // When it is answered, all of them are there.
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

    /// Copies that this caller has begun are there, items and all.
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
        let (mut after, mut piece) = (None, StagedBatch::default());
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
                piece.add(new);
                if piece.is_full(items_max) {
                    self.stage_copies(copying, std::mem::take(&mut piece)).await?;
                }
            }
            after = Some(last);
        }
        if piece.items.is_empty() { Ok(()) } else { self.stage_copies(copying, piece).await }
    }

    async fn stage_copies(&self, copying: &mut CopyProgress, piece: StagedBatch) -> PlatformResult<()> {
        self.store().stage_chunk(copying.import, copying.pieces, piece.items, self.now()).await?;
        copying.pieces += 1;
        Ok(())
    }
}

impl CopyProgress {
    fn items_of_first(&self) -> i64 {
        i64::try_from(self.first.len()).unwrap_or(i64::MAX)
    }
}

/// What is wrong with a lot is said of the lot: the call has no such field.
fn refused_lot(lot_number: &str, refusal: Rejection) -> PlatformError {
    match refusal {
        Rejection::FieldInvalid { field, problem } => {
            PlatformError::invalid("", format!("lot {lot_number}: {field} {problem}"))
        }
        other => other.into(),
    }
}

/// The item as if it were entered anew, with a later end.
fn as_entered(item: &Item, shifting: &TimeShift<'_>) -> PlatformResult<NewItem> {
    Ok(NewItem {
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        description: item.description.clone(),
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
    })
}
