//! The outbox and the quarantine.

use async_trait::async_trait;
use contract::event::{Event, EventType};
use jiff::Timestamp;
use kit_runtime::trace::TraceParent;
use uuid::Uuid;

use super::journal::event_id;
use super::{Cursor, IdempotentAnswer, NodeId, Page, StoreError, StoreResult};

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
    /// The number of the restore that the event id names; none unless the event was announced again after a restore.
    pub restore_number: Option<u32>,
    /// The position in a trace of the request that changed the status, if it had one.
    pub trace_parent: Option<TraceParent>,
}

impl OutboxEvent {
    /// The provider's `eventId`: `<subject uuid>.<sequence>`, with `.r<number of the restore>` if the event was announced
    /// again after a restore.
    pub fn event_id(&self) -> String {
        event_id(self.subject, self.sequence, self.restore_number)
    }
}

/// The outcome of an outbox row of this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxSettlement {
    /// The customer whose queue the row is in.
    pub customer: Uuid,
    /// The row.
    pub cursor: Cursor,
    /// The outcome.
    pub result: PublishResult,
}

/// The outcome of publishing an outbox row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishResult {
    /// The provider accepted the event; the row is deleted.
    Published,
    /// The event is retried. Until then the row is unassigned, and later rows of its subject wait.
    Retry {
        /// Not before.
        at: Timestamp,
        /// What went wrong; holds no secret.
        error: String,
    },
    /// The provider refused the event for good. It goes to quarantine, and later events of its subject are published.
    Quarantined {
        /// What the provider answered; holds no secret.
        error: String,
    },
    /// The row was not tried and is unassigned again.
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

/// Events of one customer are counted to this number for the figures of all customers.
pub const CUSTOMER_EVENTS_COUNTED_MAX: usize = 10_000;

/// What waits for one customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CustomerBacklog {
    /// The customer.
    pub customer: Uuid,
    /// Events not published yet, counted to [`CUSTOMER_EVENTS_COUNTED_MAX`].
    pub pending: u64,
    /// Server time of the oldest of them.
    pub oldest_at: Option<Timestamp>,
    /// Events in quarantine, counted to [`CUSTOMER_EVENTS_COUNTED_MAX`].
    pub quarantined: u64,
    /// Since when the queue is parked.
    pub parked_at: Option<Timestamp>,
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

/// What to do with an event when a later event of its subject was published before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OvertakenPolicy {
    /// The event is not sent: its consumer would take an old status for the new one.
    Refuse,
    /// The event is sent, out of order.
    Send,
}

/// The outbox and the quarantine. [`super::AuctionStore::commit`] inserts outbox rows.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    /// Customers (connected, not parked) with outbox rows that can be claimed now; each once.
    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>>;
    /// Gives `node` at most `limit` rows of a customer, oldest first: unassigned, due, and each the
    /// earliest of its subject.
    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>>;
    /// When the earliest waiting row of a customer becomes due.
    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>>;
    /// Records the outcomes of rows of this node, in one transaction.
    async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()>;
    /// The backlog of a customer's outbox.
    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog>;
    /// Customers with unpublished events, events in quarantine or a parked queue, by customer. Read from indexes, with at
    /// most [`CUSTOMER_EVENTS_COUNTED_MAX`] rows of the outbox and of the quarantine of each customer.
    async fn customer_backlogs(&self) -> StoreResult<Vec<CustomerBacklog>>;
    /// Events in quarantine by cursor.
    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>>;
    /// Events of one item or auction in quarantine, by cursor.
    async fn quarantined_of(&self, subject: Uuid) -> StoreResult<Vec<QuarantinedEvent>>;
    /// Those of these quarantined events whose subject has a later announced event that neither waits nor is in
    /// quarantine: that event was published, is being published, or was dropped.
    async fn overtaken(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>>;
    /// Moves events from quarantine back to the outbox without attempts, all or none, and stores the answer. If the
    /// installation was restored, their event ids name the latest restore from then on. `Conflict` when an event is not
    /// in quarantine, was overtaken and the policy refuses that, or the customer has no connection; `Replayed`.
    async fn requeue_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: OvertakenPolicy,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// Deletes events from quarantine, all or none, and stores the answer. `Conflict` when an event is not in
    /// quarantine; `Replayed`.
    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
}
