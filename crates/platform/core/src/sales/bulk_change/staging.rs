//! Staged items of imports and copies. An import stages its items in chunks while it reads the file. When the whole
//! file is valid, one commit begins the bulk change, and each step inserts the items of one chunk. A copy stages the
//! items that it reads from the copied auction in the same way.

use platform_rules::Auction;
use uuid::Uuid;

use super::StepEnd;
use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{BulkChange, BulkOperation};
use crate::sales::items::ItemOrigin;
use crate::sales::new_item::{ItemContext, NewItem, problems_from};
use crate::steps::change_builder::ChangeBuilder;

/// Chunks deleted in one transaction.
const STAGED_BATCHES_DELETED_MAX: usize = 16;
/// Bytes of text after which a chunk is full, whatever the number of its items.
const CHUNK_BYTES_MAX: usize = 512 << 10;

/// Items of a chunk before it is staged.
#[derive(Default)]
pub(crate) struct StagedBatch {
    pub(crate) items: Vec<NewItem>,
    bytes: usize,
}

impl StagedBatch {
    pub(crate) fn add(&mut self, item: NewItem) {
        self.bytes += item.title.len()
            + item.description.len()
            + item.category.as_ref().map_or(0, String::len)
            + item.image_url.as_ref().map_or(0, String::len);
        self.items.push(item);
    }

    /// True when the chunk has to be staged before another item is added.
    pub(crate) fn is_full(&self, items_max: usize) -> bool {
        self.items.len() >= items_max || self.bytes >= CHUNK_BYTES_MAX
    }
}

impl Platform {
    /// Inserts the items of the next chunk. The rules decide them at the time at which the import was committed, so
    /// that the decision is the one that was checked then.
    pub(super) async fn add_staged_items(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: &Auction,
        bulk_change: &BulkChange,
        import: Uuid,
    ) -> PlatformResult<StepEnd> {
        let Some(items) = self.store().staged_chunk(import, bulk_change.step).await? else {
            // Another node has inserted the chunk, or it was deleted from the table.
            return Err(PlatformError::Busy);
        };
        let entry = if matches!(bulk_change.operation, BulkOperation::Copy { .. }) {
            ItemOrigin::Call
        } else {
            ItemOrigin::Catalogue
        };
        let (mut through, mut copies) = (bulk_change.through, Vec::new());
        for new in &items {
            through += 1;
            let state = self.new_item(auction, new, through, bulk_change.at);
            let changes = platform_rules::item::decide(auction, &state, entry.command(new.status), bulk_change.at)?;
            let item = draft.item(auction, state, &changes);
            copies.extend(new.images_of.map(|original| (original, item)));
        }
        draft.images(self.copied_images(&copies, bulk_change.at).await?);
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

    /// Deletes the staged chunks of an import or a copy that failed.
    pub(crate) async fn delete_staged_chunks(&self, import: Uuid) -> PlatformResult<()> {
        while self.store().delete_staged_chunks(import, STAGED_BATCHES_DELETED_MAX).await? == STAGED_BATCHES_DELETED_MAX
        {
        }
        Ok(())
    }
}
