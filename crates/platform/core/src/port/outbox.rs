//! The outbox: announced events on their way to the customers' providers.

use contract::event::{Event, EventType};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Cursor, StoreError};

/// An announced event on its way to the customer's provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEvent {
    /// Journal cursor; key of the outbox row.
    pub cursor: Cursor,
    /// The customer it is for.
    pub customer: Uuid,
    /// Item or auction.
    pub subject: Uuid,
    /// Per-subject sequence.
    pub sequence: i64,
    /// Event type.
    pub event_type: EventType,
    /// The exact body.
    pub body: String,
    /// Attempts made so far.
    pub attempts: u32,
    /// Server time of the status change.
    pub at: Timestamp,
}

impl OutboxEvent {
    /// The provider's `eventId` and idempotency key: `<subject uuid>.<sequence>`.
    pub fn event_id(&self) -> String {
        format!("{}.{}", self.subject, self.sequence)
    }
}

/// What happened to an outbox row that this node had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxSettlement {
    /// The customer whose queue the row is in.
    pub customer: Uuid,
    /// The row.
    pub cursor: Cursor,
    /// What became of it.
    pub result: PublishResult,
}

/// What becomes of an outbox row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishResult {
    /// The provider has it; the row goes.
    Published,
    /// It is to be tried again; the row is nobody's until then, and later ones of its subject wait.
    Retry {
        /// Not before.
        at: Timestamp,
        /// What went wrong; holds no secret.
        error: String,
    },
    /// The provider will never take it; it is kept aside and later ones of its subject flow.
    Quarantined {
        /// What the provider answered; holds no secret.
        error: String,
    },
    /// Given back untried.
    Released,
}

/// An event that the provider refused for good, kept for support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedEvent {
    /// The event.
    pub event: OutboxEvent,
    /// What the provider answered.
    pub error: String,
    /// When.
    pub at: Timestamp,
}

/// How much of a customer's outbox waits, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Rows not published yet.
    pub pending: u64,
    /// Server time of the oldest of them.
    pub oldest_at: Option<Timestamp>,
    /// Events in quarantine.
    pub quarantined: u64,
    /// The latest failure of those that wait; none when none of them has failed since the connection was last changed.
    pub failing: Option<Failing>,
}

/// Why events wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// What went wrong; holds no secret.
    pub error: String,
    /// When.
    pub at: Timestamp,
    /// When the first of those that failed is tried again; none while that is under way.
    pub next_attempt_at: Option<Timestamp>,
}

/// The event of an outbox row as the contract has it.
pub fn event_of(row: &OutboxEvent) -> Result<Event, StoreError> {
    Event::parse(row.event_type, &row.body).map_err(|error| StoreError::Corrupt(error.to_string()))
}
