//! Counts of attempts and deliveries for the lists and charts of the App Portal. The delivery path calls none of these
//! methods.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::cause::FailureDetail;
use crate::model::{AttemptStatus, Id};

/// Bytes of a failed attempt's response that [`MessageProgress::failure`] contains: enough for its cause.
pub const FAILURE_BYTES_MAX: usize = 4_096;

/// Attempts of one time range, counted by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttemptTally {
    /// Attempts that succeeded.
    pub success: u64,
    /// Attempts that failed.
    pub fail: u64,
    /// Whether the range has at least as many attempts as the caller's limit; the others are not counted.
    pub is_capped: bool,
}

/// Waiting deliveries of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointWaiting {
    /// Delivery rows, counted up to the caller's limit.
    pub deliveries: usize,
    /// The earliest time at which a row without an owner is due.
    pub next_at: Option<Timestamp>,
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

/// Counts of attempts and deliveries.
#[async_trait]
pub trait HealthStore: Send + Sync {
    /// Counts an endpoint's attempts between neighbouring `bounds`, which ascend; one tally for each range. Reads only
    /// an index, and at most `rows_max` rows of a range.
    async fn attempt_tallies(&self, endpoint: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<AttemptTally>>;
    /// Durations in milliseconds of an endpoint's latest attempts with ids after `after`, newest first, at most
    /// `limit`.
    async fn latest_durations(&self, endpoint: &str, after: &str, limit: usize) -> StoreResult<Vec<i64>>;
    /// Waiting deliveries of an endpoint.
    async fn endpoint_waiting(&self, endpoint: &str, count_max: usize) -> StoreResult<EndpointWaiting>;
    /// The deliveries of each of these messages of the application to all endpoints or to one, in their order. The
    /// caller has checked that the messages belong to the application.
    async fn message_progress(
        &self,
        application: &str,
        messages: &[Id],
        endpoint: Option<&str>,
    ) -> StoreResult<Vec<MessageProgress>>;
}
