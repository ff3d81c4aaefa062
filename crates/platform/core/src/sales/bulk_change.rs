//! Bulk changes: the items of an auction follow a change of the auction in steps, so that no other command waits for
//! all of them (`docs/decisions/0013-bulk-changes-in-steps.md`).
//!
//! An auction of 100,000 items goes LIVE, returns to PREVIEW, is reconciled, receives a catalogue or a copy, or gets
//! new ends. In one commit, a bid or an end on the same items would wait for seconds. The first step is the caller's
//! own commit, with its answer, and stores the [`BulkChange`], which records how far the items have followed. A worker
//! takes the other steps, at most `items_max` items in each commit, together with the next state of the bulk change. If
//! two nodes run the same step, one commit fails with a version conflict and the node leaves the work to the other. A
//! crash between two steps loses nothing and repeats nothing. The auction's own version does not change with the steps.
//!
//! While a bulk change is under way:
//! - a command that would change the auction as a whole, or add items to it, is refused with `items_following`; so is a
//!   command on an item that has not followed yet, and a bid on one that is not LIVE yet;
//! - bids, ends and commands on items that have followed work as always;
//! - an item follows in its state at that moment, by the same rules as in a small auction.
//!
//! Before an auction goes LIVE, the first step checks the ends of all lots: if any end is over, the command is refused
//! and nothing changes.
//!
//! For new ends, the first step checks all items: all can move, or the command is refused. After that each item moves
//! in its own step. An item that has ended by then stays as it is, and no item moves twice, because the commit that
//! moves it also advances the bulk change.
//!
//! The return to PREVIEW runs in the opposite order: the auction refuses bids from the first step on, its LIVE items
//! get new versions so that every earlier decision has been committed or fails, and only then the auction is PREVIEW
//! and its items are reset. New terms of a LIVE auction are applied in the same way.

mod item_step;
mod staging;
mod worker;

use contract::AuctionStatus;
use jiff::Timestamp;
use platform_rules::lifecycle::{self, ItemCounts};
use platform_rules::{Auction, AuctionKind, Rejection};
use uuid::Uuid;

use item_step::ItemStep;
pub(crate) use staging::StagedBatch;
pub use worker::BulkChangeWorker;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{BulkChange, BulkChangeStep, BulkOperation, LotsEndingBy, Page};
use crate::steps::change_builder::ChangeBuilder;
use crate::{Caller, Platform, Scope};

/// Items read for each item that a step may change, in operations that change few items.
const ITEMS_READ_PER_CHANGE: usize = 8;
/// Lots that an error names.
const LOTS_NAMED_MAX: usize = 10;

/// Where a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepEnd {
    /// The items up to this place were changed.
    Position(i64),
    /// The last item was reached.
    LastItem,
}

impl Platform {
    /// The bulk change of an auction, with its progress; none when none is under way.
    ///
    /// Errors: `not_found`.
    pub async fn bulk_change(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Option<BulkChange>> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::AuctionsWrite, Scope::RingWrite])?;
        let auction = self.visible_auction(caller, auction).await?;
        Ok(self.store().bulk_change(auction.uuid).await?)
    }

    /// Changes the first items of an auction in the commit of the auction's own change, and stores a bulk change for
    /// the other items.
    ///
    /// Errors: `invalid` when the auction goes LIVE and the end of any of its lots is over; those of the rules for the
    /// first items.
    pub(crate) async fn begin_bulk_change(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: &Auction,
        (operation, actor): (BulkOperation, &str),
        counts: &ItemCounts,
        now: Timestamp,
    ) -> PlatformResult<()> {
        let until = i64::try_from(counts.total).unwrap_or(i64::MAX) - 1;
        if operation == BulkOperation::GoLive {
            self.require_no_ended_lots(auction, now).await?;
        }
        let (actor, step) = (actor.to_owned(), 1);
        let (auction_uuid, customer) = (auction.uuid, auction.customer);
        let bulk_change =
            BulkChange { auction: auction_uuid, customer, operation, actor, at: now, step, through: -1, until };
        if let StepEnd::Position(through) =
            self.change_items_of_step(draft, auction, &bulk_change, self.first_items_max(), now).await?
        {
            let bulk_change = Some(BulkChange { through, ..bulk_change });
            draft.bulk_change(BulkChangeStep {
                auction: auction_uuid,
                expected_step: None,
                bulk_change,
                entered: None,
            });
        }
        Ok(())
    }

    /// Rejects an auction that goes LIVE with a lot whose end is over, or not after the auction's start. Such a lot
    /// would end, and be announced, within a second. All lots are checked before the first step.
    async fn require_no_ended_lots(&self, auction: &Auction, now: Timestamp) -> PlatformResult<()> {
        if auction.kind != AuctionKind::Timed {
            return Ok(());
        }
        let by = earliest_end(auction, now);
        let LotsEndingBy { count, first } = self.store().lots_ending_by(auction.uuid, by, LOTS_NAMED_MAX).await?;
        if count == 0 {
            return Ok(());
        }
        let more = match count.saturating_sub(first.len() as u64) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let lots = first.join(", ");
        Err(PlatformError::invalid(
            "/items",
            format!("the end of these lots is over, or not after the auction's start: {lots}{more}; move it first"),
        ))
    }

    /// True when the items of an auction fit into the first step of a bulk change.
    pub(crate) fn fits_first_step(&self, counts: &ItemCounts) -> bool {
        usize::try_from(counts.total).is_ok_and(|total| total <= self.first_items_max())
    }

    /// Changes the next items of the auction, `items_max` at most.
    async fn change_items_of_step(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: &Auction,
        bulk_change: &BulkChange,
        items_max: usize,
        now: Timestamp,
    ) -> PlatformResult<StepEnd> {
        let is_sparse = matches!(bulk_change.operation, BulkOperation::Reconcile | BulkOperation::ReplanEnds { .. });
        let limit = if is_sparse { items_max * ITEMS_READ_PER_CHANGE } else { items_max };
        let item_step = ItemStep::new(auction, &bulk_change.operation, now);
        let items = self.store().items(auction.uuid, Page { after: Some(bulk_change.through), limit }).await?;
        let (is_last_page, mut changed, mut through) = (items.len() < limit, 0, bulk_change.through);
        for item in items {
            if item.position > bulk_change.until {
                return Ok(StepEnd::LastItem);
            }
            if changed == items_max {
                return Ok(StepEnd::Position(through));
            }
            through = item.position;
            if item_step.is_over(&item) {
                // The end was in the future when the auction went LIVE: it passed before the step of the item.
                tracing::warn!(auction_id = %auction.uuid, lot = item.lot_number, "a lot did not go LIVE: its end is over");
                continue;
            }
            let changes = match item_step.changes(&item) {
                Ok(Some(changes)) => changes,
                Ok(None) => continue,
                // The auction has changed already, so an item that the rules reject stays as it is.
                Err(_) if bulk_change.step > 1 => continue,
                Err(refusal) => return Err(refusal),
            };
            draft.item(auction, item, &changes);
            changed += 1;
        }
        Ok(if is_last_page || through >= bulk_change.until { StepEnd::LastItem } else { StepEnd::Position(through) })
    }

    /// Builds the change of the next step of a bulk change.
    async fn decide_step<'a>(
        &self,
        bulk_change: &'a BulkChange,
        items_max: usize,
    ) -> PlatformResult<ChangeBuilder<'a>> {
        let auction = self.store().auction(bulk_change.auction).await?;
        let auction = auction.ok_or_else(|| {
            PlatformError::Internal(format!(
                "a bulk change names auction {}, which does not exist",
                bulk_change.auction
            ))
        })?;
        let now = self.time_of(&auction);
        let mut draft = self.build_change(&bulk_change.actor, now);
        let mut entered = None;
        let reached = match bulk_change.operation.import_id() {
            Some(import) => {
                entered = Some((import, bulk_change.step));
                draft.continue_as(&bulk_change.actor, bulk_change.at);
                self.add_staged_items(&mut draft, &auction, bulk_change, import).await?
            }
            None => self.change_items_of_step(&mut draft, &auction, bulk_change, items_max, now).await?,
        };
        let mut next = match reached {
            StepEnd::Position(through) => {
                Some(BulkChange { step: bulk_change.step + 1, through, ..bulk_change.clone() })
            }
            StepEnd::LastItem => None,
        };
        if next.is_none() {
            next = self.end_bulk_change(&mut draft, &auction, bulk_change, now).await?;
        }
        draft.bulk_change(BulkChangeStep {
            auction: bulk_change.auction,
            expected_step: Some(bulk_change.step),
            bulk_change: next,
            entered,
        });
        Ok(draft)
    }

    /// Applies what had to wait for the last item: PREVIEW or the new terms, unless a bid was accepted before the bulk
    /// change began. Returns the bulk change that follows, if there is one.
    async fn end_bulk_change(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: &Auction,
        bulk_change: &BulkChange,
        now: Timestamp,
    ) -> PlatformResult<Option<BulkChange>> {
        match &bulk_change.operation {
            BulkOperation::ReturnToPreview => {
                let counts = self.store().item_counts(auction.uuid).await?;
                let auction = draft.auction(auction.clone(), &lifecycle::end_return_to_preview(auction, &counts, now));
                let reset = BulkChange {
                    operation: BulkOperation::ResetToDraft,
                    step: bulk_change.step + 1,
                    through: -1,
                    ..bulk_change.clone()
                };
                Ok(Some(reset).filter(|_| auction.status == AuctionStatus::Preview))
            }
            BulkOperation::EditTerms { edit } => {
                let counts = self.store().item_counts(auction.uuid).await?;
                draft.auction(
                    auction.clone(),
                    &platform_rules::edit::end_terms_edit(auction, &counts, (**edit).clone()),
                );
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Runs the return of a large auction to PREVIEW to its end.
    ///
    /// Errors: `auction_has_bids` when a bid was accepted before the return began.
    pub(crate) async fn wait_for_return_to_preview(&self, auction: Uuid) -> PlatformResult<Auction> {
        self.run_bulk_change_to_end(auction).await?;
        let auction = self.store().auction(auction).await?.ok_or(PlatformError::NotFound("auction"))?;
        if auction.status == AuctionStatus::Preview { Ok(auction) } else { Err(Rejection::AuctionHasBids.into()) }
    }

    fn first_items_max(&self) -> usize {
        self.config().bulk_changes.first_items_max.max(1)
    }
}

/// A lot of a LIVE auction must end after this time: now, or the start of the auction if that is later.
fn earliest_end(auction: &Auction, now: Timestamp) -> Timestamp {
    auction.starts_at.map_or(now, |start| start.max(now))
}
