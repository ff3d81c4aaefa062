//! Messages: accepting them with their deliveries, reading and searching them.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{IdempotentAnswer, NodeId, PayloadRead, Scan, ScanResult, StoreResult};
use crate::model::ordering::OrderingKey;
use crate::model::{AttemptTrigger, Id, Message};

/// A message to accept, with its deliveries.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The message; its `payload` is present.
    pub message: Message,
    /// `version` of the application in the snapshot that `deliveries` was computed from.
    pub application_version: i64,
    /// One entry for each endpoint that receives the message.
    pub deliveries: Vec<NewDelivery>,
    /// Ordering key of the message. It is stored for background tasks that send the message again, also to an endpoint
    /// that was not ordered when the message was accepted.
    pub ordering_key: Option<OrderingKey>,
    /// Response to store for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// A delivery row to insert with its message.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// The endpoint.
    pub endpoint: Id,
    /// The node that delivers the message from memory when the call returns; none when that node's queue is full, so
    /// that the row waits in the table.
    pub owner: Option<NodeId>,
    /// Ordering key, if the endpoint is ordered. Such a row always waits in the table, as head or held; `owner` is
    /// ignored.
    pub ordering_key: Option<OrderingKey>,
    /// Trigger of the delivery. A manual row has neither owner nor key: it waits in the table, due before all others.
    pub trigger: AttemptTrigger,
}

/// The conditions of a search. A message matches if it meets all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageFilter {
    /// The message was sent to this channel.
    pub channel: Option<String>,
    /// The message has this tag.
    pub tag: Option<String>,
    /// The message is of one of these event types.
    pub event_types: Option<Vec<String>>,
}

impl MessageFilter {
    /// Whether the filter matches every message.
    pub fn matches_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the filter matches a message of this type with these channels and tags.
    pub fn matches(&self, event_type: &str, channels: Option<&[String]>, tags: Option<&[String]>) -> bool {
        let has = |names: Option<&[String]>, name: &String| names.is_some_and(|names| names.contains(name));
        self.event_types.as_ref().is_none_or(|types| types.iter().any(|name| name == event_type))
            && self.channel.as_ref().is_none_or(|channel| has(channels, channel))
            && self.tag.as_ref().is_none_or(|tag| has(tags, tag))
    }

    /// Whether the filter matches this message.
    pub fn matches_message(&self, message: &Message) -> bool {
        self.matches(&message.event_type, message.channels.as_deref(), message.tags.as_deref())
    }
}

/// Messages of applications. The messages of a deleted application are never returned.
#[async_trait]
pub trait MessageStore: Send + Sync {
    /// Accepts messages in one transaction, each as a whole or not at all; returns one result for each, in order.
    /// Delivery rows are due `now`, or at the message's `deliver_at`.
    ///
    /// Errors of one message: `Conflict` (the application's version differs), `Taken("eventId")`, `Replayed`,
    /// `NotFound` (application). If two messages of one batch have the same event id or idempotency key, the second
    /// fails as if the first had been accepted earlier.
    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>>;
    /// The application's message with this id or event id.
    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>>;
    /// The existing messages of these, without payload, in no order.
    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>>;
    /// An application's messages that `filter` matches.
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>>;
}
