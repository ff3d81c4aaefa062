//! The bounded queue between the spans of a process and its exporter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, mpsc};

use super::FinishedSpan;

/// Spans that have ended and wait for the exporter. Clones share one queue.
#[derive(Debug, Clone)]
pub struct SpanQueue {
    sender: mpsc::Sender<FinishedSpan>,
    receiver: Arc<Mutex<mpsc::Receiver<FinishedSpan>>>,
    counts: Arc<SpanCounts>,
}

/// What became of spans.
#[derive(Debug, Default)]
pub struct SpanCounts {
    /// The collector accepted them.
    pub exported: AtomicU64,
    /// The queue was full, or the collector refused them for good.
    pub dropped: AtomicU64,
}

impl SpanQueue {
    /// A queue of this length.
    pub fn new(spans_max: usize) -> Self {
        let (sender, receiver) = mpsc::channel(spans_max.max(1));
        Self { sender, receiver: Arc::new(Mutex::new(receiver)), counts: Arc::default() }
    }

    /// What became of spans.
    pub fn counts(&self) -> &SpanCounts {
        &self.counts
    }

    /// Queues a span, or drops and counts it when the queue is full.
    pub(super) fn push(&self, span: FinishedSpan) {
        if self.sender.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for spans and appends at most `limit` of them.
    pub async fn receive(&self, spans: &mut Vec<FinishedSpan>, limit: usize) {
        // The queue has a sender, so at least one span arrives.
        self.receiver.lock().await.recv_many(spans, limit).await;
    }

    /// Appends at most `limit` spans that wait now.
    pub async fn take(&self, spans: &mut Vec<FinishedSpan>, limit: usize) {
        let mut receiver = self.receiver.lock().await;
        spans.extend(std::iter::from_fn(|| receiver.try_recv().ok()).take(limit));
    }
}
