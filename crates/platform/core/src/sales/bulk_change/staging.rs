//! The items of an import are staged while its file is read, a piece after the other, and enter the auction when all of
//! it was found good: the commit that says so makes the import true, and its bulk change brings every piece in. Those
//! of a copy are staged as they are read from the auction that is copied.

use platform_rules::Auction;
use uuid::Uuid;

use super::StepEnd;
use crate::Platform;
use crate::change_builder::ChangeBuilder;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{BulkChange, BulkOperation};
use crate::sales::items::ItemOrigin;
use crate::sales::new_item::{ItemContext, NewItem, problems_from};

/// Pieces taken away in one transaction.
const STAGED_BATCHES_DELETED_MAX: usize = 16;
/// Bytes of text in a piece of an import, after which it is full whatever the number of its items.
const PIECE_BYTES_MAX: usize = 512 << 10;

/// Items of a file on their way to the store.
#[derive(Default)]
pub(crate) struct StagedBatch {
    pub(crate) items: Vec<NewItem>,
    bytes: usize,
}

impl StagedBatch {
    pub(crate) fn add(&mut self, item: NewItem) {
        self.bytes += item.title.len() + item.description.len() + item.image_url.as_ref().map_or(0, String::len);
        self.items.push(item);
    }

    /// If it is to go before another item comes.
    pub(crate) fn is_full(&self, items_max: usize) -> bool {
        self.items.len() >= items_max || self.bytes >= PIECE_BYTES_MAX
    }
}

impl Platform {
    /// The rules are asked at the time at which the import became true, so that they say now what they said then.
    pub(super) async fn add_staged_items(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: &Auction,
        bulk_change: &BulkChange,
        import: Uuid,
    ) -> PlatformResult<StepEnd> {
        let Some(items) = self.store().staged_chunk(import, bulk_change.step).await? else {
            // Another node was faster, which the commit will find; or the table was tampered with.
            return Err(PlatformError::Busy);
        };
        let entry = if matches!(bulk_change.operation, BulkOperation::Copy { .. }) {
            ItemOrigin::Call
        } else {
            ItemOrigin::Catalogue
        };
        let mut through = bulk_change.through;
        for new in &items {
            through += 1;
            let state = self.new_item(auction, new, through, bulk_change.at);
            let changes = platform_rules::item::decide(auction, &state, entry.command(new.status), bulk_change.at)?;
            draft.item(auction, state, &changes);
        }
        Ok(if through >= bulk_change.until { StepEnd::LastItem } else { StepEnd::Position(through) })
    }

    /// Checks whether the rules accept these items after the auction's `existing` ones and the `before` earlier ones of
    /// the same import.
    pub(crate) fn check_batch(
        &self,
        auction: &Auction,
        (existing, before): (i64, i64),
        items: &[NewItem],
    ) -> PlatformResult<()> {
        let problems: Vec<_> = problems_from(before, ItemContext::of(auction), items).collect();
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let now = self.time_of(auction);
        for (position, new) in (existing + before..).zip(items) {
            let state = self.new_item(auction, new, position, now);
            platform_rules::item::decide(auction, &state, ItemOrigin::Catalogue.command(new.status), now)?;
        }
        Ok(())
    }

    /// Takes away what was staged for an import that does not come to be.
    pub(crate) async fn delete_staged_chunks(&self, import: Uuid) -> PlatformResult<()> {
        while self.store().delete_staged_chunks(import, STAGED_BATCHES_DELETED_MAX).await? == STAGED_BATCHES_DELETED_MAX
        {
        }
        Ok(())
    }
}
