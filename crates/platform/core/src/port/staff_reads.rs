//! Lists that only the administration pages show: the newest entries first.

use async_trait::async_trait;
use platform_rules::Auction;
use uuid::Uuid;

use super::{Cursor, JournalRow, LogEntry, StoreResult};

/// A part of the journal, read from its newest row backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalWindow {
    /// Rows before this cursor.
    pub before: Cursor,
    /// Rows from this cursor on. It bounds what one call reads, however many rows belong to other auctions.
    pub from: Cursor,
    /// Rows in the answer at most.
    pub limit: usize,
}

/// Lists for the administration pages. They change nothing.
#[async_trait]
pub trait StaffReadStore: Send + Sync {
    /// Auctions with a UUID below `before`, of one customer if it is named, the newest first.
    async fn latest_auctions(
        &self,
        customer: Option<Uuid>,
        before: Option<Uuid>,
        limit: usize,
    ) -> StoreResult<Vec<Auction>>;
    /// Journal rows of an auction and of its items in a window, the newest first. The cost depends on the window.
    async fn journal_of_auction(&self, auction: Uuid, window: JournalWindow) -> StoreResult<Vec<JournalRow>>;
    /// Entries of the audit log that corrected the hammer price or the buyer of an item of an auction, the latest first.
    async fn corrections_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LogEntry>>;
}
