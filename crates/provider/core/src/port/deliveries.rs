//! What goes in and out on the hot path: messages with their deliveries, and attempts with what follows from them.

use jiff::Timestamp;

use super::operational::AttemptEvent;
use super::{IdempotentAnswer, NodeId};
use crate::model::{Attempt, AttemptTrigger, Id, Message};
use crate::ordering::OrderingKey;

/// A message to accept, with the endpoints that it goes to.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The message; `payload` is there.
    pub message: Message,
    /// `version` of the application in the snapshot that `deliveries` was worked out from.
    pub application_version: i64,
    /// Endpoints that are to receive it.
    pub deliveries: Vec<NewDelivery>,
    /// What its sender wants it to stay in order with; kept for tasks that send it again, also to an endpoint that did not
    /// ask for order at the time.
    pub ordering_key: Option<OrderingKey>,
    /// Answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// A delivery row to be.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// The endpoint.
    pub endpoint: Id,
    /// The node that delivers it from memory as soon as the call returns; none when its queue is full, so that the row
    /// waits in the table.
    pub owner: Option<NodeId>,
    /// What it is to stay in order with. Such a row waits in the table always, as head or held: `owner` is not looked at.
    pub ordering_key: Option<OrderingKey>,
    /// What it is made for. A manual one has neither owner nor key: it waits in the table, due before all others.
    pub trigger: AttemptTrigger,
}

/// Which of an endpoint's rows. Each kind waits in a line of its own, so that none stands in another's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryKind {
    /// Asked for by hand.
    Manual,
    /// Not tried on the schedule so far.
    First,
    /// Tried, and to be tried again.
    Retry,
}

/// How much a node takes at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimLimit {
    /// Rows at most.
    pub rows: usize,
    /// No further row when the payloads before it have so many bytes: the first is taken whatever its size.
    pub payload_bytes: usize,
}

impl ClaimLimit {
    /// Room for so many rows, of any size.
    pub fn for_rows(rows: usize) -> Self {
        Self { rows, payload_bytes: usize::MAX }
    }
}

/// A delivery row that a node has been given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The message, payload included.
    pub message: Message,
    /// The endpoint.
    pub endpoint: Id,
    /// Attempts made so far on the schedule.
    pub attempts: u32,
    /// What the attempt to come is made for: a manual one is made once, whatever comes of it.
    pub trigger: AttemptTrigger,
    /// What it stays in order with: when the row goes, the next of this key is due.
    pub ordering_key: Option<OrderingKey>,
    /// A background task sends the message again.
    pub replayed: bool,
}

/// A finished attempt and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The attempt.
    pub attempt: Attempt,
    /// What becomes of the delivery row.
    pub outcome: DeliveryOutcome,
    /// What becomes of the endpoint.
    pub endpoint: EndpointEffect,
    /// What the account is told of it.
    pub notice: AttemptEvent,
}

/// What becomes of a delivery row after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It goes: delivered, given up, or the endpoint went.
    Done,
    /// It waits, nobody's, for its next attempt; `attempts` made so far.
    Retry {
        /// Not before.
        at: Timestamp,
        /// Attempts made so far on the schedule.
        attempts: u32,
    },
}

/// What an attempt says of its endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointEffect {
    /// Nothing new.
    None,
    /// It works: `failing_since` is cleared.
    Working,
    /// It fails: `failing_since` is set if it is not.
    Failing,
    /// It is to be disabled (410 Gone, or too long without a success).
    Disable,
}

/// What the messages of one endpoint wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Delivery rows, claimed or not.
    pub deliveries: u64,
    /// When the oldest of them was accepted.
    pub oldest_at: Option<Timestamp>,
}
