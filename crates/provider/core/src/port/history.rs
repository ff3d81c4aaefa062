//! What happened, searched: messages, attempts, and how a message stands at an endpoint.
//!
//! Lists run along ids, which are in order of time, between two of them. A filter never makes a list look at more rows
//! than it is told: it then stops, says where, and the next page goes on from there. So no filter needs an index of its
//! own, and none costs anything when a message is accepted.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Order, StoreResult};
use crate::model::{Attempt, AttemptStatus, Id, Message};

/// Which rows of a list are looked at, and how far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// Rows with ids after this.
    pub above: String,
    /// Rows with ids before this.
    pub below: String,
    /// Which way it goes: from `above` up, or from `below` down.
    pub direction: Order,
    /// Rows found at most.
    pub limit: usize,
    /// Rows looked at, at most; at least one.
    pub scanned_rows_max: usize,
    /// Payload bytes of the rows found at most; the first row is found whatever it has.
    pub bytes_max: usize,
}

/// What a scan found, in its direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanResult<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The last row looked at, when the scan stopped because it had looked at enough, or had enough bytes.
    pub stopped_at: Option<Id>,
}

/// Which messages are wanted; all that is given must be met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageFilter {
    /// It was sent to this channel.
    pub channel: Option<String>,
    /// It has this tag.
    pub tag: Option<String>,
    /// It is of one of these event types.
    pub event_types: Option<Vec<String>>,
}

/// Which attempts are wanted; all that is given must be met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttemptFilter {
    /// How it ended.
    pub status: Option<AttemptStatus>,
    /// Lowest status code of a hundred.
    pub code_class: Option<u16>,
    /// It was made at this endpoint.
    pub endpoint: Option<Id>,
    /// What it delivered.
    pub message: MessageFilter,
}

/// Whose attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptScope {
    /// Of this message. The filter's `message` is not looked at: whoever asks knows the message.
    Message(Id),
    /// At this endpoint.
    Endpoint(Id),
}

/// Whether payloads are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadRead {
    /// They are.
    Include,
    /// They are not: `payload` is none.
    Skip,
}

/// How a message stands at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryState {
    /// How the latest attempt ended; none before the first.
    pub latest: Option<AttemptStatus>,
    /// An attempt succeeded.
    pub succeeded: bool,
    /// When it is tried next; none when there is nothing more to do.
    pub next_at: Option<Timestamp>,
}

/// A message that was tried at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptedMessage {
    /// The message.
    pub message: Message,
    /// How it stands there.
    pub state: DeliveryState,
}

/// An endpoint that a message was tried at, or waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The endpoint, which may have gone.
    pub endpoint: Id,
    /// How the latest attempt ended, also while there is more to come; none before the first.
    pub latest: Option<AttemptStatus>,
    /// When it is tried next; none when there is nothing more to do.
    pub next_at: Option<Timestamp>,
    /// Address that was called last; none before the first attempt.
    pub url: Option<String>,
}

/// Searching what happened.
#[async_trait]
pub trait HistoryStore {
    /// An application's messages.
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>>;
    /// Those of these messages that are there, without payload, in no order.
    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>>;
    /// Attempts of a message, or at an endpoint, of this application; the caller knows that it is there.
    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptScope,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<ScanResult<Attempt>>;
    /// Messages that were tried at an endpoint at least once, by message; all of them, or those that count as `status`
    /// ([`DeliveryState::matches_status`]). `scanned_rows_max` is of messages of the application, whether or not they were tried there.
    async fn find_attempted_messages(
        &self,
        application: &str,
        endpoint: &str,
        filter: &MessageFilter,
        status: Option<AttemptStatus>,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<AttemptedMessage>>;
    /// Every endpoint that a message was tried at or waits for, by endpoint.
    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>>;
}

impl MessageFilter {
    /// It admits every message.
    pub fn matches_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it admits a message of this type, with these channels and tags.
    pub fn matches(&self, event_type: &str, channels: Option<&[String]>, tags: Option<&[String]>) -> bool {
        let has = |all: Option<&[String]>, one: &String| all.is_some_and(|all| all.contains(one));
        self.event_types.as_ref().is_none_or(|types| types.iter().any(|name| name == event_type))
            && self.channel.as_ref().is_none_or(|channel| has(channels, channel))
            && self.tag.as_ref().is_none_or(|tag| has(tags, tag))
    }

    /// Whether it admits this message.
    pub fn matches_message(&self, message: &Message) -> bool {
        self.matches(&message.event_type, message.channels.as_deref(), message.tags.as_deref())
    }
}

impl AttemptFilter {
    /// It admits every attempt.
    pub fn matches_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it admits an attempt that ended so, whatever it delivered.
    pub fn matches(&self, status: AttemptStatus, code: u16, endpoint: &str) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
            && self.code_class.is_none_or(|class| (class..=class + 99).contains(&code))
            && self.endpoint.as_ref().is_none_or(|wanted| **wanted == *endpoint)
    }
}

impl DeliveryState {
    /// What the list of attempted messages shows: sending while there is more to come, else how the latest attempt ended.
    pub fn status(&self) -> AttemptStatus {
        match (self.next_at, self.latest) {
            (_, None) => AttemptStatus::Pending,
            (Some(_), _) => AttemptStatus::Sending,
            (None, Some(latest)) => latest,
        }
    }

    /// Whether a list that asks for `status` has it. One success makes a message a success, whatever came before and
    /// after; a failure is one without more to come and without a success.
    pub fn matches_status(&self, status: AttemptStatus) -> bool {
        match status {
            AttemptStatus::Success => self.succeeded,
            AttemptStatus::Sending => self.next_at.is_some() && self.latest.is_some(),
            AttemptStatus::Fail => {
                self.next_at.is_none() && !self.succeeded && self.latest == Some(AttemptStatus::Fail)
            }
            AttemptStatus::Pending => false,
            AttemptStatus::Cancelled => self.next_at.is_none() && self.latest == Some(AttemptStatus::Cancelled),
        }
    }
}
