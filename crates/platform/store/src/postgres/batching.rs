//! Limits of the batches in which concurrent calls are served, and the error when a batcher is closed.

use std::time::Duration;

use kit_runtime::batcher::{BatchError, BatcherConfig};
use platform_core::port::StoreError;

/// Reads by key. Two at a time: one is answered while the next gathers.
pub(super) const READ_BATCHES: BatcherConfig =
    BatcherConfig { queue_max: 4_096, batch_max: 256, in_flight_max: 2, min_interval: Duration::ZERO };

/// Transactions of many callers. Two at a time: one computes while the other waits for the disk.
pub(super) const COMMIT_BATCHES: BatcherConfig =
    BatcherConfig { queue_max: 4_096, batch_max: 128, in_flight_max: 2, min_interval: Duration::ZERO };

/// The port's word for it.
pub(super) fn batcher_closed(why: BatchError) -> StoreError {
    StoreError::Unavailable(why.to_string())
}
