//! The provider's workers.

use std::time::Duration;

use kit_runtime::tasks::Tasks;

use crate::messages::retention;
use crate::provider::Provider;
use crate::{alerts, background, operational};

/// Interval between deletions of expired rows.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(60);
/// Interval between writes of counts that the delivery path keeps in memory.
const COUNTS_INTERVAL: Duration = Duration::from_secs(5);

impl Provider {
    /// Starts the workers: the dispatcher, background tasks, operational events, alerts, retention, and the deletion of
    /// expired idempotency keys, tokens, sessions and activity entries. They end with `tasks`: attempts under way are
    /// finished, and deliveries in memory are released to the store.
    pub fn spawn_workers(&self, tasks: &Tasks) {
        self.dispatcher().spawn_workers(tasks);
        background::worker::spawn(self, tasks);
        operational::worker::spawn(self, tasks);
        alerts::worker::spawn(self, tasks);
        retention::spawn(self, tasks);
        spawn_change_listener(self, tasks);
        spawn_cleanup(self, tasks);
        spawn_unknown_event_types(self, tasks);
    }

    fn apply_remote_changes(&self) {
        self.api_key_cache().clear();
        self.snapshots().clear();
        self.dispatcher().request_sweep();
    }
}

/// Clears the caches when another process changed the store.
fn spawn_change_listener(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider changes", move |stopping| {
        let provider = provider.clone();
        async move {
            let changed = provider.store().remote_changes();
            loop {
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = changed.wait() => provider.apply_remote_changes(),
                }
            }
        }
    });
}

fn spawn_unknown_event_types(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider event types", move |stopping| {
        let provider = provider.clone();
        async move {
            loop {
                let next = provider.now() + COUNTS_INTERVAL;
                let stops = tokio::select! {
                    () = stopping.cancelled() => true,
                    () = provider.clock().sleep_until(next) => false,
                };
                if let Err(error) = provider.write_unknown_event_types().await {
                    tracing::warn!(%error, "unknown event types could not be counted; the next run tries again");
                }
                if stops {
                    return;
                }
            }
        }
    });
}

fn spawn_cleanup(provider: &Provider, tasks: &Tasks) {
    let provider = provider.clone();
    tasks.spawn("provider answers", move |stopping| {
        let provider = provider.clone();
        async move {
            loop {
                if let Err(error) = provider.delete_expired_answers().await {
                    tracing::warn!(%error, "expired idempotency keys could not be removed; the next run tries again");
                }
                if let Err(error) = provider.delete_expired_app_tokens().await {
                    tracing::warn!(%error, "expired tokens could not be removed; the next run tries again");
                }
                if let Err(error) = provider.delete_expired_sessions().await {
                    tracing::warn!(%error, "expired sessions could not be removed; the next run tries again");
                }
                if let Err(error) = provider.delete_old_activity().await {
                    tracing::warn!(%error, "old activity could not be removed; the next run tries again");
                }
                let next = provider.now() + CLEANUP_INTERVAL;
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = provider.clock().sleep_until(next) => {}
                }
            }
        }
    });
}
