//! Attempts: recording them with their consequences, reading, searching and counting them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::operational_events::AttemptEvent;
use super::{MessageFilter, Page, PayloadRead, Scan, ScanResult, StoreResult};
use crate::model::counts::DeliveryEnd;
use crate::model::{Attempt, AttemptStatus, Id, Message};

/// A finished attempt and its consequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The attempt.
    pub attempt: Attempt,
    /// What happens to the delivery row.
    pub outcome: DeliveryOutcome,
    /// What happens to the endpoint.
    pub endpoint: EndpointEffect,
    /// The operational event that the account receives.
    pub notice: AttemptEvent,
}

impl AttemptRecord {
    /// How the delivery ends, if this attempt ends it.
    pub fn end(&self) -> DeliveryEnd {
        match self.attempt.status {
            AttemptStatus::Success => DeliveryEnd::Delivered,
            AttemptStatus::Cancelled => DeliveryEnd::Cancelled,
            AttemptStatus::Fail | AttemptStatus::Pending | AttemptStatus::Sending => DeliveryEnd::Exhausted,
        }
    }
}

/// What happens to a delivery row after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The row is deleted: the message was delivered, its last attempt failed, or the endpoint was deleted or disabled.
    Done,
    /// The row loses its owner and waits for its next attempt.
    Retry {
        /// Earliest time of the next attempt.
        at: Timestamp,
        /// Attempts made so far on the retry schedule.
        attempts: u32,
    },
}

/// The change of an endpoint by an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointEffect {
    /// Nothing.
    None,
    /// The endpoint works: `failing_since` is cleared.
    Working,
    /// The endpoint fails: `failing_since` is set, unless it is set already.
    Failing,
    /// The endpoint is disabled: it responded 410 Gone, or failed for too long without a success.
    Disable,
}

/// The conditions of a search. An attempt matches if it meets all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttemptFilter {
    /// The attempt has this status.
    pub status: Option<AttemptStatus>,
    /// The attempt's status code is in the hundred that begins with this number, such as 400.
    pub code_class: Option<u16>,
    /// The attempt was made at this endpoint.
    pub endpoint: Option<Id>,
    /// The attempt's message matches this filter.
    pub message: MessageFilter,
}

impl AttemptFilter {
    /// Whether the filter matches every attempt.
    pub fn matches_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the filter matches an attempt with this result, whatever its message.
    pub fn matches(&self, status: AttemptStatus, code: u16, endpoint: &str) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
            && self.code_class.is_none_or(|class| (class..=class + 99).contains(&code))
            && self.endpoint.as_ref().is_none_or(|wanted| **wanted == *endpoint)
    }
}

/// The list of attempts that a search reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptScope {
    /// Attempts of this message. The filter's `message` is ignored: the caller knows the message.
    Message(Id),
    /// Attempts at this endpoint.
    Endpoint(Id),
}

/// The state of a message's delivery to one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryState {
    /// Status of the latest attempt; none before the first.
    pub latest: Option<AttemptStatus>,
    /// Whether any attempt succeeded.
    pub succeeded: bool,
    /// When the next attempt is due; none when there will be no more.
    pub next_at: Option<Timestamp>,
}

impl DeliveryState {
    /// The status that lists show: `Sending` while an attempt is due, else the status of the latest attempt.
    pub fn status(&self) -> AttemptStatus {
        match (self.next_at, self.latest) {
            (_, None) => AttemptStatus::Pending,
            (Some(_), _) => AttemptStatus::Sending,
            (None, Some(latest)) => latest,
        }
    }

    /// Whether a list filtered by `status` contains the message. One successful attempt makes a message a success,
    /// whatever came before and after; a failure is a message without a success and without a further attempt.
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

/// A message that was attempted at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptedMessage {
    /// The message.
    pub message: Message,
    /// The state of its delivery to the endpoint.
    pub state: DeliveryState,
}

/// An endpoint that a message was attempted at, or is waiting for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The endpoint, which may have been deleted.
    pub endpoint: Id,
    /// Status of the latest attempt, also while a further one is due; none before the first.
    pub latest: Option<AttemptStatus>,
    /// When the next attempt is due; none when there will be no more.
    pub next_at: Option<Timestamp>,
    /// URL of the latest attempt; none before the first attempt.
    pub url: Option<String>,
}

/// Attempts of deliveries.
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Records finished attempts with their consequences, in one transaction. Recording the same attempt again changes
    /// nothing, so the caller repeats the call until it returns `Ok`.
    ///
    /// A store may delay the transaction by up to `within`, so that the records share the transaction of another
    /// write. An endpoint effect that changes `disabled` raises the application's `version`. If the delivery row was
    /// deleted, the attempt is stored and counted, and no delivery ends. If the row was marked for a resend since the node
    /// claimed it, the row stays and is due immediately, unless this attempt was the resend.
    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, within: Duration) -> StoreResult<()>;
    /// One attempt of a message.
    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>>;
    /// Attempts at one endpoint, newest first.
    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>>;
    /// Attempts of a message, or at an endpoint, of this application. The caller has checked that `of` exists.
    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptScope,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<ScanResult<Attempt>>;
    /// Messages with at least one attempt at an endpoint, ordered by message; with a `status`, only messages that match
    /// [`DeliveryState::matches_status`]. The scan's `scanned_rows_max` counts messages of the application, attempted
    /// or not.
    async fn find_attempted_messages(
        &self,
        application: &str,
        endpoint: &str,
        filter: &MessageFilter,
        status: Option<AttemptStatus>,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<AttemptedMessage>>;
    /// Every endpoint that a message was attempted at or is waiting for, by endpoint.
    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>>;
}
