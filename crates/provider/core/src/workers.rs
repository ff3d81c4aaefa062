//! What the provider does by itself. Retention has its own file.

use std::time::Duration;

use kit_runtime::tasks::Tasks;

use crate::provider::Provider;

/// Answers and tokens over their time are forgotten this often.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(60);

/// Starts the dispatcher, background tasks, operational events, the listener to changes elsewhere, and the forgetting of what
/// is old.
pub(crate) fn spawn(provider: &Provider, tasks: &Tasks) {
    provider.dispatcher().spawn_workers(tasks);
    crate::background::worker::spawn(provider, tasks);
    crate::operational::worker::spawn(provider, tasks);
    tasks.spawn("provider changes", {
        let provider = provider.clone();
        move |stopping| {
            let provider = provider.clone();
            async move {
                let changed = provider.store().remote_changes();
                loop {
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = changed.wait() => provider.remote_changes(),
                    }
                }
            }
        }
    });
    crate::messages::retention::spawn(provider, tasks);
    tasks.spawn("provider answers", {
        let provider = provider.clone();
        move |stopping| {
            let provider = provider.clone();
            async move {
                loop {
                    if let Err(error) = provider.delete_expired_answers().await {
                        tracing::warn!(%error, "old answers could not be forgotten");
                    }
                    if let Err(error) = provider.delete_expired_app_tokens().await {
                        tracing::warn!(%error, "tokens over their time could not be forgotten");
                    }
                    let next = provider.now() + CLEANUP_INTERVAL;
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = provider.clock().sleep_until(next) => {}
                    }
                }
            }
        }
    });
}

impl Provider {
    fn remote_changes(&self) {
        self.api_key_cache().clear();
        self.snapshots().clear();
        self.dispatcher().request_sweep();
    }
}
