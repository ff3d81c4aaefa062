//! Forgetting what was kept long enough (provider.md, "Messages"): payloads at their own time, messages and attempts after
//! 90 days.
//!
//! A worker that takes no input: it looks for what is over, and removes it a few rows at a time. After each full batch it
//! rests for as long as that took, so that it has at most half of the store's time. On many nodes all do it; each row goes
//! once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kit_runtime::tasks::Tasks;

use crate::error::ProviderResult;
use crate::history::HISTORY_WINDOW;
use crate::ids;
use crate::port::StoreResult;
use crate::provider::Provider;

/// What is over is looked for this often.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);
/// Rows removed in one call of the store.
const BATCH_MAX: usize = 500;
/// Batches of a kind in one run; what is left is for the next one.
const BATCHES_MAX: usize = 2_000;
/// A rest is as long as its batch took, and at least this long.
const PAUSE_MIN: Duration = Duration::from_millis(1);

/// How much was forgotten by this process since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RetentionCounts {
    /// Payloads removed before their messages.
    pub payloads: u64,
    /// Attempts.
    pub attempts: u64,
    /// Messages.
    pub messages: u64,
}

/// Counts of [`RetentionCounts`].
#[derive(Default)]
pub(crate) struct RetentionCounters {
    payloads: AtomicU64,
    attempts: AtomicU64,
    messages: AtomicU64,
}

impl Provider {
    /// How much was forgotten by this process since it began.
    pub fn retention_counts(&self) -> RetentionCounts {
        let RetentionCounters { payloads, attempts, messages } = self.retention_counters();
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        RetentionCounts { payloads: count(payloads), attempts: count(attempts), messages: count(messages) }
    }

    /// Removes what is over now. Called every so often by a worker; calling it again is harmless.
    pub async fn apply_retention(&self) -> ProviderResult<()> {
        let now = self.now();
        let before = ids::lowest_id_at(ids::MESSAGE, now.checked_sub(HISTORY_WINDOW).unwrap_or(now));
        let (store, counts) = (self.store(), self.retention_counters());
        self.in_batches(&counts.payloads, || store.expunge_expired_payloads(now, BATCH_MAX)).await?;
        // A message is there as long as one of its attempts is.
        self.in_batches(&counts.attempts, || store.delete_old_attempts(&before, BATCH_MAX)).await?;
        self.in_batches(&counts.messages, || store.delete_old_messages(&before, BATCH_MAX)).await
    }

    async fn in_batches<F>(&self, count: &AtomicU64, forget: impl Fn() -> F) -> ProviderResult<()>
    where
        F: Future<Output = StoreResult<usize>>,
    {
        for _ in 0..BATCHES_MAX {
            let began = self.clock().monotonic();
            let forgotten = forget().await?;
            count.fetch_add(forgotten as u64, Ordering::Relaxed);
            if forgotten < BATCH_MAX {
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
                    // What is under way at the store is finished there, and the rest is for the next start.
                    () = stopping.cancelled() => return,
                    result = provider.apply_retention() => {
                        if let Err(error) = result {
                            tracing::warn!(%error, "what is over its time could not be removed");
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
