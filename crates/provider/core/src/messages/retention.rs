//! Retention: removes payloads when they expire ([`super::payload_expiry`]), and messages with their attempts after the
//! retention of messages ([`RetentionConfig`](crate::config::retention::RetentionConfig)). Counts by hour become counts by day after 90 days, and are kept for three years.
//!
//! A background job: it finds rows after their retention and deletes them in batches. After each full batch it pauses
//! for as long as the batch took, so that it uses at most half of the store's time. Every node runs it; each row is
//! deleted once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::tasks::Tasks;

use crate::error::ProviderResult;
use crate::ids;
use crate::model::counts::Hour;
use crate::node_state::retention_counts::RetentionCounts;
use crate::port::StoreResult;
use crate::provider::Provider;

/// Time between two runs.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);
/// How long counts by hour are kept.
const HOURS_WINDOW: SignedDuration = SignedDuration::from_hours(90 * 24);
/// How long counts by day are kept.
const COUNTS_WINDOW: SignedDuration = SignedDuration::from_hours(3 * 366 * 24);
/// Rows removed in one store call.
pub(super) const BATCH_MAX: usize = 500;
/// Maximum number of batches of one kind in a run; the next run continues.
const BATCHES_MAX: usize = 2_000;
/// Minimum pause after a full batch.
const PAUSE_MIN: Duration = Duration::from_millis(1);

impl Provider {
    /// Numbers of rows that this process has removed since it started.
    pub fn retention_counts(&self) -> RetentionCounts {
        self.retention_counters().counts()
    }

    /// Removes all rows after their retention. Repeated and concurrent calls are harmless.
    pub async fn apply_retention(&self) -> ProviderResult<()> {
        let now = self.now();
        let kept = self.config().retention.messages;
        let before = ids::lowest_id_at(ids::MESSAGE, now.checked_sub(kept).unwrap_or(now));
        let (store, counts) = (self.store(), self.retention_counters());
        self.remove_expired_payloads(&counts.payloads, now).await?;
        // Attempts are deleted before their messages, so that no attempt is left without its message.
        self.in_batches(&counts.attempts, || store.delete_old_attempts(&before, BATCH_MAX)).await?;
        self.in_batches(&counts.messages, || store.delete_old_messages(&before, BATCH_MAX)).await?;
        self.merge_old_counts(now).await
    }

    /// Merges the hours of days before [`HOURS_WINDOW`], and deletes counts after [`COUNTS_WINDOW`].
    async fn merge_old_counts(&self, now: Timestamp) -> ProviderResult<()> {
        let day_before = |window| Hour::of(now.checked_sub(window).unwrap_or(now)).day();
        let (before, kept_from) = (day_before(HOURS_WINDOW), day_before(COUNTS_WINDOW));
        for _ in 0..BATCHES_MAX {
            let began = self.clock().monotonic();
            if self.store().merge_counts(before, kept_from, BATCH_MAX).await? {
                return Ok(());
            }
            let took = self.clock().monotonic().saturating_duration_since(began);
            self.clock().sleep_until(self.now() + took.max(PAUSE_MIN)).await;
        }
        Ok(())
    }

    /// Removes rows in batches until a batch is not full.
    pub(super) async fn in_batches<F>(&self, count: &AtomicU64, remove: impl Fn() -> F) -> ProviderResult<()>
    where
        F: Future<Output = StoreResult<usize>>,
    {
        for _ in 0..BATCHES_MAX {
            let began = self.clock().monotonic();
            let removed = remove().await?;
            count.fetch_add(removed as u64, Ordering::Relaxed);
            if removed < BATCH_MAX {
                return Ok(());
            }
            let took = self.clock().monotonic().saturating_duration_since(began);
            self.clock().sleep_until(self.now() + took.max(PAUSE_MIN)).await;
        }
        Ok(())
    }
}

pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider retention", move |stopping| {
        let provider = provider.clone();
        async move {
            loop {
                tokio::select! {
                    // A batch under way ends in the store; the next start continues.
                    () = stopping.cancelled() => return,
                    result = provider.apply_retention() => {
                        if let Err(error) = result {
                            tracing::warn!(%error, "expired payloads, attempts or messages could not be removed; the next run tries again");
                        }
                    }
                }
                let next = provider.now() + RETENTION_INTERVAL;
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = provider.clock().sleep_until(next) => {}
                }
            }
        }
    });
}
