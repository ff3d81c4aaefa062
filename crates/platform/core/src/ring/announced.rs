//! The last events of a webcast, for the clerk's desk: what was announced, with its sequence.

use platform_rules::Item;
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::journal::{JournalRow, SubjectKind};
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// Rows at the end of the journal that are searched: first few, then more. An event before them is not shown.
const CURSORS_SEARCHED: [i64; 2] = [60, 1_000];

/// An announced status change of an item, with the item as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedItem {
    /// The status change.
    pub row: JournalRow,
    /// The item.
    pub item: Item,
}

impl Platform {
    /// The last announced status change of each of the items that were announced last in this webcast, the latest
    /// first; at most `limit`. Searches the last 1,000 rows of the journal.
    ///
    /// Errors: `forbidden`, `not_found`, `clerk_not_assigned`.
    pub async fn announced_in_ring(
        &self,
        caller: &Caller,
        auction: Uuid,
        limit: usize,
    ) -> PlatformResult<Vec<AnnouncedItem>> {
        caller.require(Scope::RingWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &auction).await?;
        let (last, of_auction) = (self.store().last_cursor().await?, auction.uuid.to_string());
        let mut rows: Vec<JournalRow> = Vec::new();
        for searched in CURSORS_SEARCHED {
            let page = Page { after: Some((last - searched).max(0)), limit: usize::try_from(searched).unwrap_or(0) };
            let found = self.store().events_after(auction.customer, page).await?;
            rows.clear();
            for row in found.into_iter().rev() {
                let is_own = row.body.as_ref().is_some_and(|body| body.contains(&of_auction));
                let is_known = rows.iter().any(|later| later.subject == row.subject);
                if row.kind == SubjectKind::Item && is_own && !is_known && rows.len() < limit {
                    rows.push(row);
                }
            }
            if rows.len() >= limit || last <= searched {
                break;
            }
        }
        let mut announced = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(item) = self.store().item(row.subject).await? {
                announced.push(AnnouncedItem { row, item });
            }
        }
        Ok(announced)
    }
}
