//! Wake-ups between tasks: a notification without data that tells a worker to look for work.

use std::sync::Arc;

use tokio::sync::Notify;

/// Wakes one waiting worker. Clones share the signal.
///
/// Notifications while the worker is busy are merged into one, and none is lost: the next [`Signal::wait`] returns
/// immediately. A notification ends one wait, so only one worker may wait on a signal; two workers need two signals.
#[derive(Debug, Clone, Default)]
pub struct Signal(Arc<Notify>);

impl Signal {
    /// A signal without a notification.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes the worker, now or at its next wait.
    pub fn notify(&self) {
        self.0.notify_one();
    }

    /// Waits for a notification. Dropping the future does not lose one.
    pub async fn wait(&self) {
        self.0.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn notifications_before_the_wait_are_kept_and_merged_into_one() {
        let signal = Signal::new();
        assert_eq!(signal.wait().now_or_never(), None);
        signal.notify();
        signal.clone().notify();
        assert_eq!(signal.wait().now_or_never(), Some(()));
        assert_eq!(signal.wait().now_or_never(), None);
    }

    #[tokio::test]
    async fn a_waiting_worker_is_woken() {
        let signal = Signal::new();
        let worker = tokio::spawn({
            let signal = signal.clone();
            async move { signal.wait().await }
        });
        tokio::task::yield_now().await;
        signal.notify();
        worker.await.unwrap();
    }
}
