//! The journal: the append-only record of every status change, with the event feed and the history of a subject.

use async_trait::async_trait;
use contract::event::{Event, EventType};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Cursor, Page, StoreResult};

/// Kind of the subject of a status change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// An auction.
    Auction,
    /// An item.
    Item,
}

impl SubjectKind {
    /// Type of the events about such a subject.
    pub fn event_type(self) -> EventType {
        match self {
            Self::Auction => EventType::AuctionStatusChange,
            Self::Item => EventType::ItemStatusChange,
        }
    }
}

/// A status change to be inserted into the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Item or auction.
    pub subject: Uuid,
    /// Its kind.
    pub kind: SubjectKind,
    /// The customer that the subject belongs to.
    pub customer: Uuid,
    /// Per-subject number, from 1 without gaps.
    pub sequence: i64,
    /// Name of the status before; none for a creation.
    pub from: Option<&'static str>,
    /// Name of the status after.
    pub to: &'static str,
    /// Stable name of the cause, such as `end_reached` or `sold_in_ring`; see `platform_rules::Cause`.
    pub cause: &'static str,
    /// Who did it: `timer`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub actor: String,
    /// The server's time of the decision.
    pub at: Timestamp,
    /// The reason that a person gave, where the rules require one.
    pub reason: Option<String>,
    /// The event, when the change is announced.
    pub event: Option<Event>,
}

/// A stored row of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// Global position.
    pub cursor: Cursor,
    /// Item or auction.
    pub subject: Uuid,
    /// Its kind.
    pub kind: SubjectKind,
    /// Per-subject number.
    pub sequence: i64,
    /// Name of the status before.
    pub from: Option<String>,
    /// Name of the status after.
    pub to: String,
    /// Stable name of the cause.
    pub cause: String,
    /// Who did it.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
    /// The reason that a person gave.
    pub reason: Option<String>,
    /// Exact body of the event; none when the change was not announced.
    pub body: Option<String>,
    /// The number of the restore that the event id names; none unless the event was announced again after a restore.
    pub restore_number: Option<u32>,
}

impl JournalRow {
    /// The provider's `eventId` of the event; none when the change was not announced.
    pub fn event_id(&self) -> Option<String> {
        self.body.as_ref().map(|_| event_id(self.subject, self.sequence, self.restore_number))
    }
}

/// The provider's `eventId` of an event: `<subject uuid>.<sequence>`, with `.r<number of the restore>` if it was announced
/// again after a restore.
pub(super) fn event_id(subject: Uuid, sequence: i64, restore_number: Option<u32>) -> String {
    match restore_number {
        None => format!("{subject}.{sequence}"),
        Some(number) => format!("{subject}.{sequence}.r{number}"),
    }
}

/// Reads of the journal. [`super::AuctionStore::commit`] appends to it.
#[async_trait]
pub trait JournalStore: Send + Sync {
    /// Announced events of a customer after a cursor, in order.
    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>>;
    /// Journal of one subject, announced or not, by sequence.
    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>>;
    /// The cursor of the journal's last row, announced or not, of any customer; 0 before the first.
    async fn last_cursor(&self) -> StoreResult<Cursor>;
    /// Cursors of all rows of the journal. They have no gaps.
    async fn cursors(&self, page: Page<Cursor>) -> StoreResult<Vec<Cursor>>;
}
