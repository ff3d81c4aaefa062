//! Exact counts by hour. Other calls add them: [`super::MessageStore::accept`], [`super::AttemptStore::record_attempts`] and
//! the calls of [`super::DeliveryStore`] that end deliveries, each in its own transaction.
//!
//! Counts of deleted endpoints and applications stay. Deliveries that end because their endpoint was deleted, or because
//! their message reached its retention, are not counted.

use std::ops::Range;

use async_trait::async_trait;

use super::StoreResult;
use crate::model::Id;
use crate::model::counts::{AttemptCounts, DeliveryCounts, Hour, MessageCounts};

/// Whose counts are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CountScope {
    /// One endpoint.
    Endpoint(Id),
    /// All endpoints that an application has or had.
    Application(Id),
    /// All applications that an account has or had.
    Account(Id),
}

/// Reading counts.
#[async_trait]
pub trait CountStore: Send + Sync {
    /// Attempts and ended deliveries in each of these hours that has any, in ascending order. A day that was merged
    /// ([`CountStore::merge_counts`]) is in its first hour.
    async fn delivery_counts(&self, of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, DeliveryCounts)>>;
    /// As [`CountStore::delivery_counts`], of each of these endpoints.
    async fn endpoint_counts(
        &self,
        endpoints: &[Id],
        hours: Range<Hour>,
    ) -> StoreResult<Vec<(Id, Hour, DeliveryCounts)>>;
    /// Messages of an application or an account that were accepted in each of these hours that has any, in ascending
    /// order; merged days are in their first hour. An endpoint has none.
    async fn message_counts(&self, of: &CountScope, hours: Range<Hour>) -> StoreResult<Vec<(Hour, MessageCounts)>>;
    /// Counts an endpoint's recorded attempts with ids in this range. Reads only an index, for parts of hours.
    async fn count_attempts(&self, endpoint: &str, ids: Range<Id>) -> StoreResult<AttemptCounts>;
    /// Merges the hours of each day that ended at or before `before` into the day's first hour, and deletes the counts of
    /// the days before `kept_from`. Returns whether it did all: it merges at most `days_max` days of endpoints and
    /// applications in one transaction.
    async fn merge_counts(&self, before: Hour, kept_from: Hour, days_max: usize) -> StoreResult<bool>;
}
