//! The part of the port for a look at the whole of what is kept: what holds between the tables, and the log in the order in
//! which it was written.

use async_trait::async_trait;
use platform_rules::LogHash;
use uuid::Uuid;

use super::{Cursor, Page, StoreResult};

/// An entry of the log at its place among those of all subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionedEntry {
    /// Rises with each entry that is written; from 1.
    pub position: i64,
    /// Whose entry it is.
    pub subject: Uuid,
    /// Its number in the subject's log.
    pub number: i64,
    /// The bytes that its hash covers.
    pub content: String,
    /// Its hash.
    pub hash: LogHash,
}

/// What positions of the log look like when nobody has touched them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionNumbering {
    /// One after the other.
    Gapless,
    /// What was rolled back leaves a hole.
    MayHaveGaps,
}

/// A row that names something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanRow {
    /// Its table.
    pub table: &'static str,
    /// The item, auction or subject that it names.
    pub subject: Uuid,
}

/// The books as a whole. Nothing here is on a bid's path.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// How positions are given.
    fn position_numbering(&self) -> PositionNumbering;
    /// The position of the log's last entry, 0 before the first. Nothing appears at or below it any more: where entries of
    /// transactions that run at the same time become visible out of order, it waits for these.
    async fn last_log_position(&self) -> StoreResult<i64>;
    /// Entries of all subjects by position.
    async fn entries_by_position(&self, page: Page<i64>) -> StoreResult<Vec<PositionedEntry>>;
    /// Cursors of the journal, whatever they are about. They have no holes.
    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>>;
    /// Rows of items, registrations, bids, stakes, journal, outbox and quarantine that name what is not there: at most
    /// `limit` of each table, each subject once.
    async fn orphan_rows(&self, limit: usize) -> StoreResult<Vec<OrphanRow>>;
}
