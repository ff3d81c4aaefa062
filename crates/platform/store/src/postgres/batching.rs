//! Limits of the batches that combine concurrent calls, and the error of a closed batcher.

use std::time::Duration;

use kit_runtime::batcher::{BatchError, BatcherConfig};
use platform_core::port::StoreError;

/// Reads by key. Two batches are in flight: PostgreSQL serves one while the next is collected.
pub(super) const READ_BATCHES: BatcherConfig =
    BatcherConfig { queue_max: 4_096, batch_max: 256, in_flight_max: 2, min_interval: Duration::ZERO };

/// Transactions of many callers. Two batches are in flight: one computes while the other waits for the disk.
pub(super) const COMMIT_BATCHES: BatcherConfig =
    BatcherConfig { queue_max: 4_096, batch_max: 128, in_flight_max: 2, min_interval: Duration::ZERO };

pub(super) fn batcher_closed(error: BatchError) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
