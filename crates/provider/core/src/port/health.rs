//! Waiting deliveries and the progress of messages, for lists of the App Portal. The delivery path calls none of these
//! methods.

use std::ops::Range;

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::cause::FailureDetail;
use crate::model::{AttemptStatus, Id};

/// Bytes of a failed attempt's response that [`MessageProgress::failure`] contains: enough for its cause.
pub const FAILURE_BYTES_MAX: usize = 4_096;

/// Waiting deliveries of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointWaiting {
    /// Deliveries that wait for their first attempt.
    pub first: u64,
    /// Deliveries that failed and wait for another attempt.
    pub retries: u64,
    /// The earliest time at which a row without an owner is due.
    pub next_at: Option<Timestamp>,
}

impl EndpointWaiting {
    /// All of them.
    pub fn deliveries(self) -> u64 {
        self.first + self.retries
    }
}

/// The deliveries of one message to all endpoints together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageProgress {
    /// The message.
    pub message: Id,
    /// Endpoints that it was attempted at or waits for.
    pub endpoints: u64,
    /// Of these, endpoints with a successful attempt.
    pub succeeded: u64,
    /// Endpoints that it waits for.
    pub waiting: u64,
    /// The earliest time of its next attempt.
    pub next_at: Option<Timestamp>,
    /// Attempts at all endpoints.
    pub attempts: u64,
    /// Status and status code of the latest attempt; none before the first.
    pub latest: Option<(AttemptStatus, u16)>,
    /// URL of the latest attempt; empty if it succeeded.
    pub url: String,
    /// The failure detail of the latest attempt; none if it succeeded.
    pub detail: Option<FailureDetail>,
    /// The first [`FAILURE_BYTES_MAX`] bytes of the latest attempt's response or transport error; empty if it
    /// succeeded.
    pub failure: String,
}

/// What waits, and how far messages are.
#[async_trait]
pub trait HealthStore: Send + Sync {
    /// Waiting deliveries of an endpoint: all, or those of messages with ids in this range.
    async fn endpoint_waiting(&self, endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting>;
    /// The deliveries of each of these messages of the application to all endpoints or to one, in their order. The
    /// caller has checked that the messages belong to the application.
    async fn message_progress(
        &self,
        application: &str,
        messages: &[Id],
        endpoint: Option<&str>,
    ) -> StoreResult<Vec<MessageProgress>>;
}
