//! The audit log, and checks of everything that is stored.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionChange, Item, ItemChange, LogHash};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Page, StoreResult};

/// Kind of a subject with an audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// An auction.
    Auction,
    /// An item.
    Item,
    /// A bidder's registration for an auction.
    Registration,
    /// A person or firm in the register of a house.
    Party,
}

impl LogKind {
    /// Stable name in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auction => "auction",
            Self::Item => "item",
            Self::Registration => "registration",
            Self::Party => "party",
        }
    }
}

/// A stored entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Item, auction, registration or party.
    pub subject: Uuid,
    /// Number in the subject's log, from 1 without gaps.
    pub number: i64,
    /// [`crate::audit::Content`] as JSON. The hash covers these bytes, so they are never serialised again.
    pub content: String,
    /// The values of the content's commitments as JSON: salt and value by JSON pointer into `change`. They never leave
    /// the platform.
    pub concealed: Option<String>,
    /// SHA-256 over the domain, the hash before and the content; see [`crate::audit::chain`].
    pub hash: LogHash,
}

/// Concealed values of one entry that an erasure removed. The entry of the erasure names them, so that a verification accepts
/// that they are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErasedValues {
    /// Number of the entry, in the log of the same subject.
    pub entry: i64,
    /// JSON pointers into its `change`.
    pub values: Vec<String>,
}

/// What remains of the concealed values of an entry after an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemainingValues {
    /// Subject of the entry.
    pub subject: Uuid,
    /// Number of the entry.
    pub number: i64,
    /// The new [`LogEntry::concealed`].
    pub concealed: Option<String>,
}

/// Changes of one subject that one actor made at one time.
#[derive(Debug, Clone)]
pub struct UnloggedChanges {
    pub(crate) actor: String,
    pub(crate) at: Timestamp,
    pub(crate) what: SubjectChanges,
}

/// Changes of one subject, in order. A new subject comes with the state before its first change.
#[derive(Debug, Clone)]
pub(crate) enum SubjectChanges {
    /// The change's auction.
    Auction { opening: Option<Box<Auction>>, changes: Vec<AuctionChange> },
    /// The item at this index of the change.
    Item { place: usize, opening: Option<Box<Item>>, changes: Vec<ItemChange> },
}

/// An entry with its position among the entries of all subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionedEntry {
    /// Rises with each entry that is written; from 1.
    pub position: i64,
    /// Its subject.
    pub subject: Uuid,
    /// Its number in the subject's log.
    pub number: i64,
    /// The bytes that its hash covers.
    pub content: String,
    /// Its hash.
    pub hash: LogHash,
}

/// How the positions of an untouched log are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionNumbering {
    /// Without gaps.
    Gapless,
    /// A rolled back transaction leaves a gap.
    MayHaveGaps,
}

/// A row that names a row that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanRow {
    /// Its table.
    pub table: &'static str,
    /// The item, auction or subject that it names.
    pub subject: Uuid,
}

/// The audit log and consistency checks. [`super::AuctionStore::commit`] appends to the log. No call is on the path of
/// a bid.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Entries of a subject by their number.
    async fn log_entries(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<LogEntry>>;
    /// Subjects that have entries, in the order of their UUIDs.
    async fn audited_subjects(&self, page: Page<Uuid>) -> StoreResult<Vec<Uuid>>;
    /// Columns (`table.column`) that contradict the stored state of a subject, or the customer of its journal rows.
    /// Empty when all agree or the subject does not exist.
    async fn inconsistent_columns(&self, kind: LogKind, subject: Uuid) -> StoreResult<Vec<&'static str>>;
    /// How the store numbers the positions.
    fn position_numbering(&self) -> PositionNumbering;
    /// The position of the log's last entry, 0 before the first. No entry appears at or below it later: where
    /// concurrent transactions become visible out of order, the call waits for them.
    async fn last_log_position(&self) -> StoreResult<i64>;
    /// Entries of all subjects by position.
    async fn entries_by_position(&self, page: Page<i64>) -> StoreResult<Vec<PositionedEntry>>;
    /// Rows of items, registrations, bids, bidder items, journal, outbox and quarantine that name a missing row: at
    /// most `limit` of each table, each subject once.
    async fn orphan_rows(&self, limit: usize) -> StoreResult<Vec<OrphanRow>>;
}
