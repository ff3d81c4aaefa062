//! What the platform has read of its customers' endpoints: their health, and which announced events they received.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreResult;

/// Events of one sale that are counted as not delivered at most.
pub const UNDELIVERED_COUNTED_MAX: usize = 1_000;
/// Deliveries that are kept for one customer; those of the oldest events are deleted first.
pub const DELIVERIES_KEPT_MAX: usize = 50_000;

/// A node's right to read the endpoints of a customer. It saves duplicate requests and is never needed for correctness:
/// what an expired claim wants to record is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingClaim {
    /// The customer.
    pub customer: Uuid,
    /// Until when no other node claims the same customer.
    pub until: Timestamp,
    /// When the publisher last published an event of the customer.
    pub published_at: Option<Timestamp>,
}

/// What an endpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EndpointCondition {
    /// Its latest attempt succeeded.
    Delivering,
    /// Its latest attempt failed.
    Failing,
    /// It is disabled and receives nothing.
    Disabled,
    /// It has no attempt yet.
    Unused,
}

/// A failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedAttempt {
    /// When it began.
    pub at: Timestamp,
    /// The status code of the response; 0 without a response.
    pub status_code: u16,
}

/// The provider's statistics of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointFigures {
    /// Start of the time that the attempts are counted in.
    pub since: Timestamp,
    /// When they were read: its end.
    pub read_at: Timestamp,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Deliveries that wait for an attempt.
    pub waiting: u64,
}

/// An endpoint of a customer's application as it was last read. Nothing of a receiver's response is kept but its status
/// code, and nothing of the URL but its host: a path can be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointRecord {
    /// The provider's id of the endpoint.
    pub id: String,
    /// Host and port of the URL.
    pub host: String,
    /// The customer's own words for it; may be empty.
    pub description: String,
    /// What it does.
    pub condition: EndpointCondition,
    /// Since when it fails or is disabled; none for another condition.
    pub since: Option<Timestamp>,
    /// True when every attempt that was read failed, so that it may fail for longer than since `since`.
    pub may_be_earlier: bool,
    /// The latest failed attempt that was read.
    pub last_failure: Option<FailedAttempt>,
    /// When the latest successful attempt that was read began.
    pub last_success_at: Option<Timestamp>,
    /// Its statistics; none before they were read.
    pub figures: Option<EndpointFigures>,
    /// When its deliveries and statistics were last read.
    pub details_read_at: Option<Timestamp>,
    /// When its condition was read.
    pub read_at: Timestamp,
}

/// How the last reading of a customer's endpoints went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingOutcome {
    /// No reading has ended yet.
    Never,
    /// The endpoints were read.
    Read,
    /// The provider does not let the API key read them.
    NoRight,
    /// The reading failed.
    Failed,
}

/// What is known of a customer's endpoints, and how the last reading went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointReading {
    /// The customer.
    pub customer: Uuid,
    /// How the last reading went.
    pub outcome: ReadingOutcome,
    /// Since when readings have gone like that.
    pub outcome_since: Option<Timestamp>,
    /// Why the last reading failed; holds no secret and no text of the provider.
    pub detail: Option<String>,
    /// When a reading last ended, whatever its outcome.
    pub tried_at: Option<Timestamp>,
    /// When the endpoints were last read.
    pub read_at: Option<Timestamp>,
    /// True when the application has more endpoints than the platform reads.
    pub has_more: bool,
    /// The endpoints, as `read_at` found them, by id.
    pub endpoints: Vec<EndpointRecord>,
}

/// The end of a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingEnd {
    /// The claim, which ends.
    pub claim: ReadingClaim,
    /// How it went.
    pub outcome: ReadingOutcome,
    /// Why it failed.
    pub detail: Option<String>,
    /// When it ended.
    pub at: Timestamp,
    /// When the next one is due.
    pub next_at: Timestamp,
    /// When it is due if it was brought forward during this one; not after `next_at`.
    pub soon_at: Timestamp,
}

/// Whether an endpoint has received an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It accepted the event.
    Delivered,
    /// It has not accepted the event yet; a further attempt is planned.
    Waiting,
    /// It has not accepted the event, and no further attempt is planned.
    Failed,
}

/// An announced event at one endpoint, as it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDelivery {
    /// The event's item or auction.
    pub subject: Uuid,
    /// Its per-subject sequence.
    pub sequence: i64,
    /// The provider's id of the endpoint.
    pub endpoint: String,
    /// The provider's `eventId`.
    pub event_id: String,
    /// Whether the endpoint has received it.
    pub state: DeliveryState,
    /// When the provider accepted the event.
    pub accepted_at: Timestamp,
    /// When this was read.
    pub read_at: Timestamp,
}

/// Events of an auction and its items that were not delivered to an endpoint, as they were last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UndeliveredOfSale {
    /// Events that an endpoint has not accepted, counted to [`UNDELIVERED_COUNTED_MAX`].
    pub count: usize,
    /// When the earliest of them was accepted by the provider.
    pub oldest_at: Option<Timestamp>,
}

/// Readings of the customers with a complete connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadingFigures {
    /// The earliest end of a customer's last reading. A customer that was never read counts from its connection.
    pub oldest_at: Option<Timestamp>,
    /// Customers whose API key may not read endpoints.
    pub without_right: u64,
}

/// Readings of endpoints. A connection to another application or provider forgets what was read of the old one.
#[async_trait]
pub trait EndpointReadingStore: Send + Sync {
    /// Claims customers with a complete connection whose reading is due and not claimed, the longest due first.
    async fn claim_endpoint_readings(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<ReadingClaim>>;
    /// Brings the next reading of these customers forward to `at`, or to `pause_ms` after the last one ended if that is
    /// later. `published_at` is recorded if there is one.
    async fn bring_endpoint_readings_forward(
        &self,
        customers: Vec<Uuid>,
        at: Timestamp,
        pause_ms: i64,
        published_at: Option<Timestamp>,
    ) -> StoreResult<()>;
    /// Replaces the endpoints of a customer, and deletes undelivered events of endpoints that are gone. False when the
    /// claim is not held any more.
    async fn record_endpoints(
        &self,
        claim: ReadingClaim,
        endpoints: Vec<EndpointRecord>,
        has_more: bool,
        read_at: Timestamp,
    ) -> StoreResult<bool>;
    /// Records deliveries, and the endpoint that they were read from. No two of them are of the same event and endpoint.
    /// False when the claim is not held any more.
    async fn record_event_deliveries(
        &self,
        claim: ReadingClaim,
        endpoint: Option<EndpointRecord>,
        deliveries: Vec<EventDelivery>,
    ) -> StoreResult<bool>;
    /// Ends a reading, and deletes deliveries beyond [`DELIVERIES_KEPT_MAX`]. Nothing happens when the claim is not held
    /// any more.
    async fn end_endpoint_reading(&self, end: ReadingEnd) -> StoreResult<()>;
    /// What is known of the endpoints of these customers; nothing of a customer without a complete connection.
    async fn endpoint_readings(&self, customers: Vec<Uuid>) -> StoreResult<Vec<EndpointReading>>;
    /// Undelivered events of a customer that the provider accepted after `after`, those that were read longest ago first.
    async fn undelivered_events(
        &self,
        customer: Uuid,
        after: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<EventDelivery>>;
    /// Deliveries of the events of an item or auction, by sequence and endpoint.
    async fn event_deliveries(&self, subject: Uuid) -> StoreResult<Vec<EventDelivery>>;
    /// The undelivered events of an auction and its items.
    async fn undelivered_of_sale(&self, customer: Uuid, auction: Uuid) -> StoreResult<UndeliveredOfSale>;
    /// The readings of all customers.
    async fn reading_figures(&self) -> StoreResult<ReadingFigures>;
}
