//! How many attempts and deliveries an endpoint has, by what became of them.

use std::ops::Range;

use async_trait::async_trait;

use super::StoreResult;
use crate::model::Id;

/// Attempts and deliveries of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointCounts {
    /// Attempts that succeeded.
    pub success: u64,
    /// Attempts that failed.
    pub fail: u64,
    /// Attempts that were given up.
    pub cancelled: u64,
    /// Deliveries that wait for their first attempt.
    pub pending: u64,
    /// Deliveries that failed and wait for another attempt.
    pub sending: u64,
}

/// Part of [`super::Store`].
#[async_trait]
pub trait CountStore: Send + Sync {
    /// Counts an endpoint's attempts with ids of `attempts`, and its unfinished deliveries of messages with ids of
    /// `messages`. None when either is more than `limit` rows, of which not many more are looked at.
    ///
    /// Attempts are counted in an index that has the status, so that no attempt is read.
    async fn endpoint_counts(
        &self,
        endpoint: &str,
        attempts: Range<Id>,
        messages: Range<Id>,
        limit: usize,
    ) -> StoreResult<Option<EndpointCounts>>;
}
