//! Delivery rows: unfinished work of the dispatcher, one row for each message and endpoint.
//!
//! A delivery row is deleted in the transaction that records its last attempt. A row belongs to at most one living
//! node. The deletion of a row ends the delivery, which is counted ([`super::CountStore`]), unless the delivery had ended
//! before: a resend or a replay inserts a row for a message that was attempted at the endpoint.
//!
//! For an endpoint with ordering, the earliest row of each ordering key is the *head* and is delivered like any other
//! row. The rows behind it are *held*: they have no owner, are never due, and no node can claim them. When the head's
//! row is deleted, by whatever call, the same transaction makes the next row of the key the head, and due.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{IdempotentAnswer, NodeId, StoreResult};
use crate::model::ordering::OrderingKey;
use crate::model::{Attempt, AttemptTrigger, Id, Message};

/// When a row marked for a resend is due: before all others.
pub const RESEND_DUE: Timestamp = Timestamp::UNIX_EPOCH;

/// Kind of an endpoint's delivery rows. Each kind has its own queue, so that no kind delays another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryKind {
    /// A caller asked for the attempt (a resend).
    Manual,
    /// No attempt of the retry schedule has been made.
    First,
    /// An attempt failed and another is due.
    Retry,
}

/// Limits of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimLimit {
    /// Maximum number of rows.
    pub rows: usize,
    /// The claim ends when the payloads of its rows reach this size in bytes. The first row is claimed whatever its
    /// size.
    pub payload_bytes: usize,
}

impl ClaimLimit {
    /// A limit by number of rows only.
    pub fn for_rows(rows: usize) -> Self {
        Self { rows, payload_bytes: usize::MAX }
    }
}

/// A delivery row that a node has claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The message, with its payload.
    pub message: Message,
    /// The endpoint.
    pub endpoint: Id,
    /// Attempts made so far on the retry schedule.
    pub attempts: u32,
    /// Trigger of the next attempt. A manual attempt is made once, whatever its result.
    pub trigger: AttemptTrigger,
    /// Ordering key. When the row is deleted, the next row of this key becomes due.
    pub ordering_key: Option<OrderingKey>,
    /// Whether a background task sends the message again. The next attempt is recorded as manual, and keeps its place
    /// in the retry schedule; later retries are scheduled ones.
    pub replayed: bool,
}

/// A message to deliver again to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resend {
    /// The application.
    pub application: Id,
    /// The message.
    pub message: Id,
    /// The endpoint, whether or not the message was routed to it.
    pub endpoint: Id,
}

/// A delivery that ends without another attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedDelivery {
    /// The application.
    pub application: Id,
    /// The endpoint.
    pub endpoint: Id,
    /// The message.
    pub message: Id,
}

/// An ordering key whose head is not delivered yet: the head waits, or other messages wait behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedKeyRow {
    /// The key.
    pub key: OrderingKey,
    /// The head.
    pub message: Id,
    /// Attempts made on the head so far.
    pub attempts: u32,
    /// When the first of them began; before the first attempt, when the message was accepted.
    pub since: Timestamp,
    /// When the next attempt is due, or since when it is.
    pub next_at: Timestamp,
    /// Whether a node has claimed the head.
    pub claimed: bool,
    /// Messages behind the head.
    pub waiting: u64,
}

/// The ordering keys of an endpoint whose heads hold up other messages or the endpoint's order: a head that failed, or one
/// that waits for its time with others behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedKeysTotal {
    /// Number of keys.
    pub keys: u64,
    /// Messages behind their heads.
    pub waiting: u64,
    /// The key that has been blocked for the longest time.
    pub longest: BlockedKeyRow,
}

/// Result of skipping or retrying a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadResult {
    /// The head was skipped or is due.
    Done,
    /// A node has claimed the head.
    UnderWay,
    /// The message is not the key's head.
    NotHead,
}

/// Delivery rows. The rows of a deleted endpoint are never returned.
#[async_trait]
pub trait DeliveryStore: Send + Sync {
    /// Endpoints (application, endpoint) with a due row that no node has claimed; each once, at most `limit`. The cost
    /// does not depend on the number of rows of one endpoint.
    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>>;
    /// Claims due rows of one kind of an endpoint for `node`, the longest due first. A row marked for a resend is of
    /// its other kind too, and is claimed before all others of that kind.
    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>>;
    /// The earliest time at which a row without an owner is due.
    async fn next_due(&self) -> StoreResult<Option<Timestamp>>;
    /// Releases rows (message, endpoint) without an attempt. They are due `now`; rows marked for a resend stay due
    /// before all others.
    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()>;
    /// Deletes rows without an attempt: the endpoint is disabled or deleted, or the payload was removed. The deliveries
    /// count as cancelled `now`.
    async fn drop_deliveries(&self, dropped: Vec<DroppedDelivery>, now: Timestamp) -> StoreResult<()>;
    /// Marks the row of this message and endpoint for a manual attempt, due before all others, or inserts such a row.
    ///
    /// A waiting row makes one manual attempt in place of its scheduled one. A claimed row makes it after the attempt
    /// under way, whatever its result. Errors: `NotFound` (message or endpoint), `Replayed`.
    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// Makes at most `limit` rows that wait for their next attempt due `now`; returns the number. Their numbers of
    /// attempts stay.
    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize>;
    /// Ends deliveries to one endpoint, each with a cancelled attempt, in one transaction; returns the number.
    ///
    /// A message without a row gets no attempt, nor does a message that [`super::BacklogStore::waiting_messages`]
    /// omits. A node that has the message in memory may still send it once.
    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize>;
    /// An endpoint's blocked ordering keys, ordered by key, after `after`. A head on its first attempt without messages
    /// behind it is omitted, because it is an ordinary delivery.
    async fn blocked_keys(&self, endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKeyRow>>;
    /// The head of one ordering key, with the number of messages behind it; none when no message of the key waits.
    async fn blocked_key(&self, endpoint: &str, key: &str) -> StoreResult<Option<BlockedKeyRow>>;
    /// The blocked keys of an endpoint together, at `now`; none when no key is blocked.
    async fn blocked_keys_total(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<BlockedKeysTotal>>;
    /// Deletes the head of a key, if it is the delivery of this attempt and no node has claimed it, and records the attempt,
    /// which is a cancelled one. The delivery counts as skipped, and the next row of the key becomes due.
    async fn skip_head(&self, attempt: Attempt, key: &str) -> StoreResult<HeadResult>;
    /// Makes the head of a key due `now`, if it is this message and no node has claimed it. A head that was not attempted
    /// keeps its time. Its number of attempts stays.
    async fn retry_head(&self, endpoint: &str, message: &str, key: &str, now: Timestamp) -> StoreResult<HeadResult>;
}
