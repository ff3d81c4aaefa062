//! A wake-up call between tasks: "there is work, look".

use std::sync::Arc;

use tokio::sync::Notify;

/// Wakes one waiting worker. Clones are the same signal.
///
/// Many notifications while the worker is busy become one, and none is lost: the next [`Signal::wait`] returns at once.
/// A notification ends one wait, so one worker waits on a signal; two workers need two signals.
#[derive(Debug, Clone, Default)]
pub struct Signal(Arc<Notify>);

impl Signal {
    /// A signal that nobody has given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes the worker, now or when it waits next.
    pub fn notify(&self) {
        self.0.notify_one();
    }

    /// Waits for a notification. Dropping the future loses none.
    pub async fn wait(&self) {
        self.0.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn what_is_notified_before_the_wait_is_not_lost_and_counts_once() {
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
