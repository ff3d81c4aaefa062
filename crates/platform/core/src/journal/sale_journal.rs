//! The journal of one sale: the status changes of an auction and of its items, the newest first.

use uuid::Uuid;

use crate::error::PlatformResult;
use crate::journal::JournalRow;
use crate::port::{Cursor, JournalWindow, Page};
use crate::{Caller, Platform, Scope};

/// Journal rows of all auctions that one call looks through at most. A sale that ended long ago has none among the newest
/// ones, and 20,000 took SQLite 80 ms.
const WINDOW_ROWS_MAX: i64 = 5_000;

/// A page of a sale's journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaleJournal {
    /// The rows, the newest first.
    pub rows: Vec<JournalRow>,
    /// Where the next page begins; none at the beginning of the journal. The page after may be empty, because a call
    /// looks through a bounded number of rows.
    pub older: Option<Cursor>,
}

impl Platform {
    /// Status changes of an auction and its items before a cursor, the newest first.
    ///
    /// Errors: `not_found`, `forbidden`.
    pub async fn sale_journal(
        &self,
        caller: &Caller,
        auction: Uuid,
        page: Page<Cursor>,
    ) -> PlatformResult<SaleJournal> {
        caller.require(Scope::EventsRead)?;
        self.visible_auction(caller, auction).await?;
        let before = match page.after {
            Some(before) => before,
            None => self.store().last_cursor().await?.saturating_add(1),
        };
        let from = before.saturating_sub(WINDOW_ROWS_MAX).max(1);
        let window = JournalWindow { before, from, limit: page.limit };
        let rows = self.store().journal_of_auction(auction, window).await?;
        let is_full = rows.len() >= page.limit;
        let older = match rows.last() {
            Some(last) if is_full => Some(last.cursor),
            _ => Some(from),
        };
        // The first row of an auction is its creation, after which nothing older follows.
        let is_complete = rows.last().is_some_and(|row| row.subject == auction && row.sequence == 1);
        Ok(SaleJournal { rows, older: older.filter(|older| *older > 1 && !is_complete) })
    }
}
