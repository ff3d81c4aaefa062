//! Waiting deliveries, for lists of the App Portal. The delivery path calls none of these methods.

use std::ops::Range;

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreResult;
use crate::model::Id;

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

/// Counts of waiting deliveries.
#[async_trait]
pub trait HealthStore: Send + Sync {
    /// Waiting deliveries of each of these endpoints, in their order.
    async fn waiting_of_endpoints(&self, endpoints: &[Id]) -> StoreResult<Vec<EndpointWaiting>>;
    /// Waiting deliveries of an endpoint: all, or those of messages with ids in this range.
    async fn endpoint_waiting(&self, endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting>;
}
