//! Decides how a bulk change changes one item, by the rules at the time of the item's step.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind, Item, ItemChange, ItemCommand, new_item_end};

use super::earliest_end;
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{BulkOperation, ITEMS_READ_MAX, Page};
use crate::sales::auctions::edit::can_be_bought;
use crate::sales::auctions::move_ends::later;

/// The reason in the log for ends that move with the closing time.
const REPLANNED: &str = "the auction's closing time or stagger was changed";

/// A bulk change at one moment.
pub(super) struct ItemStep<'a> {
    auction: &'a Auction,
    operation: &'a BulkOperation,
    /// The auction with its previous plan of ends.
    before: Option<Auction>,
    now: Timestamp,
}

impl<'a> ItemStep<'a> {
    pub(super) fn new(auction: &'a Auction, operation: &'a BulkOperation, now: Timestamp) -> Self {
        let before = match operation {
            BulkOperation::ReplanEnds { ends_at, stagger } => {
                Some(Auction { ends_at: *ends_at, stagger: *stagger, ..auction.clone() })
            }
            _ => None,
        };
        Self { auction, operation, before, now }
    }

    /// The changes of the item; an empty list raises its version only. None when the item does not change.
    pub(super) fn changes(&self, item: &Item) -> PlatformResult<Option<Vec<ItemChange>>> {
        let command = match (self.operation, item.status) {
            (BulkOperation::GoLive, ItemStatus::Draft | ItemStatus::Preview) => ItemCommand::GoLive,
            (BulkOperation::Reconcile, ItemStatus::Passed) => ItemCommand::Reconcile,
            (BulkOperation::Archive { reason }, ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Suspended) => {
                ItemCommand::Archive { reason: reason.clone() }
            }
            // The new version alone makes concurrent bids conflict, so that they are decided again.
            (BulkOperation::ReturnToPreview, ItemStatus::Live) => return Ok(Some(Vec::new())),
            (BulkOperation::EditTerms { .. }, status) if can_be_bought(status) => return Ok(Some(Vec::new())),
            (BulkOperation::ResetToDraft, ItemStatus::Live) => {
                ItemCommand::ChangeStatus { to: ItemStatus::Draft, reason: None }
            }
            (BulkOperation::ShiftEnds { seconds, reason }, _) => {
                let to = item.end_time.map(|end| later(end, *seconds)).transpose()?;
                return self.moved(item, to, reason.as_deref());
            }
            (BulkOperation::PlanEnds { reason }, _) => {
                return self.moved(item, new_item_end(self.auction, item.position), reason.as_deref());
            }
            (BulkOperation::ReplanEnds { .. }, _) if self.was_planned(item) => {
                return self.moved(item, new_item_end(self.auction, item.position), Some(REPLANNED));
            }
            _ => return Ok(None),
        };
        Ok(Some(platform_rules::item::decide(self.auction, item, command, self.now)?))
    }

    /// True for an item that would go LIVE although its end is over.
    pub(super) fn is_over(&self, item: &Item) -> bool {
        let goes_live = *self.operation == BulkOperation::GoLive
            && self.auction.kind == AuctionKind::Timed
            && matches!(item.status, ItemStatus::Draft | ItemStatus::Preview);
        goes_live && item.effective_end_time.is_some_and(|end| end <= earliest_end(self.auction, self.now))
    }

    fn was_planned(&self, item: &Item) -> bool {
        self.before.as_ref().is_some_and(|before| new_item_end(before, item.position) == item.end_time)
    }

    fn moved(
        &self,
        item: &Item,
        to: Option<Timestamp>,
        reason: Option<&str>,
    ) -> PlatformResult<Option<Vec<ItemChange>>> {
        let changes = platform_rules::item::move_plan(self.auction, item, to, reason, self.now)?;
        Ok(Some(changes).filter(|changes| !changes.is_empty()))
    }
}

impl Platform {
    /// The number of items that the operation would change now. Errors: the first rejection of the rules.
    pub(crate) async fn count_affected_items(
        &self,
        auction: &Auction,
        operation: &BulkOperation,
        now: Timestamp,
    ) -> PlatformResult<u64> {
        let item_step = ItemStep::new(auction, operation, now);
        let (mut count, mut after) = (0, None);
        loop {
            let items = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(count) };
            for item in &items {
                count += u64::from(item_step.changes(item)?.is_some());
            }
            after = Some(last);
        }
    }
}
