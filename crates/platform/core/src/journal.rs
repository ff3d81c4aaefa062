//! The journal: the append-only record of every status change. Announced events are taken from it.

pub mod events;

use contract::event::{Event, EventType};
use jiff::Timestamp;
use uuid::Uuid;

use crate::port::Cursor;

/// What kind of thing changed its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// An auction.
    Auction,
    /// An item.
    Item,
}

impl SubjectKind {
    /// Type of the events about it.
    pub fn event_type(self) -> EventType {
        match self {
            Self::Auction => EventType::AuctionStatusChange,
            Self::Item => EventType::ItemStatusChange,
        }
    }
}

/// A status change on its way into the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Item or auction.
    pub subject: Uuid,
    /// Which of the two.
    pub kind: SubjectKind,
    /// The customer whose it is.
    pub customer: Uuid,
    /// Per-subject number, from 1 without gaps.
    pub sequence: i64,
    /// Name of the status before; none for a creation.
    pub from: Option<&'static str>,
    /// Name of the status after.
    pub to: &'static str,
    /// Stable word for the cause, such as `end_reached` or `sold_in_ring`; see `platform_rules::Cause`.
    pub cause: &'static str,
    /// Who did it: `timer`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub actor: String,
    /// The server's time of the decision.
    pub at: Timestamp,
    /// Why, in a person's words, where the rules ask for it.
    pub reason: Option<String>,
    /// The event, when the change is announced.
    pub event: Option<Event>,
}

/// A row of the journal as it is read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// Global position.
    pub cursor: Cursor,
    /// Item or auction.
    pub subject: Uuid,
    /// Which of the two.
    pub kind: SubjectKind,
    /// Per-subject number.
    pub sequence: i64,
    /// Name of the status before.
    pub from: Option<String>,
    /// Name of the status after.
    pub to: String,
    /// Word for the cause.
    pub cause: String,
    /// Who did it.
    pub actor: String,
    /// The server's time.
    pub at: Timestamp,
    /// Why.
    pub reason: Option<String>,
    /// Exact body of the event, when it was announced.
    pub body: Option<String>,
}
