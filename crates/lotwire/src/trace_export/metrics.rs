//! Metrics of the exporter of traces.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use kit_http::metrics::{MetricsFuture, Source};
use kit_runtime::metrics::{self, Counter, Family, Gauge, Labels, Registry};
use kit_runtime::trace::SpanCounts;

use super::{ExportError, Exporter};

const UNKNOWN: u8 = 0;
const UP: u8 = 1;
const DOWN: u8 = 2;

/// The outcomes of requests to the collector.
#[derive(Debug, Default)]
pub(super) struct ExportState {
    exports: AtomicU64,
    failures: AtomicU64,
    /// The outcome of the last request.
    last: AtomicU8,
}

impl ExportState {
    /// Counts the outcome of a request with `spans` spans. Returns whether the request before succeeded; none before the
    /// first.
    pub(super) fn record(&self, outcome: &Result<(), ExportError>, counts: &SpanCounts, spans: usize) -> Option<bool> {
        let spans = spans as u64;
        match outcome {
            Ok(()) => {
                self.exports.fetch_add(1, Ordering::Relaxed);
                counts.exported.fetch_add(spans, Ordering::Relaxed);
            }
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                if matches!(error, ExportError::Refused(_)) {
                    counts.dropped.fetch_add(spans, Ordering::Relaxed);
                }
            }
        }
        match self.last.swap(if outcome.is_ok() { UP } else { DOWN }, Ordering::Relaxed) {
            UNKNOWN => None,
            before => Some(before == UP),
        }
    }

    /// Whether the last request succeeded.
    pub(super) fn is_up(&self) -> bool {
        self.last.load(Ordering::Relaxed) == UP
    }
}

/// The metrics of an exporter. Without an exporter there are none.
pub(super) fn source(exporter: &Arc<Exporter>) -> Arc<dyn Source> {
    Arc::new(ExportMetrics(Arc::clone(exporter)))
}

struct ExportMetrics(Arc<Exporter>);

impl Source for ExportMetrics {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        Box::pin(async { Ok(self.encode()) })
    }
}

impl ExportMetrics {
    fn encode(&self) -> String {
        let (state, counts) = (&self.0.state, self.0.queue.counts());
        let mut registry = Registry::with_prefix("lotwire_trace");
        let up = Gauge::<i64>::default();
        up.set(i64::from(state.is_up()));
        registry.register("exporter_up", "1 if the last request to the collector succeeded, otherwise 0", up);
        let exports = Family::<Labels, Counter>::default();
        for (result, count) in [("success", &state.exports), ("failure", &state.failures)] {
            let labels = vec![("result", result.to_owned())];
            exports.get_or_create(&labels).inc_by(count.load(Ordering::Relaxed));
        }
        registry.register("exports", "Requests to the collector by result", exports);
        let spans = Family::<Labels, Counter>::default();
        for (result, count) in [("exported", &counts.exported), ("dropped", &counts.dropped)] {
            let labels = vec![("result", result.to_owned())];
            spans.get_or_create(&labels).inc_by(count.load(Ordering::Relaxed));
        }
        registry.register(
            "spans",
            "Ended spans by what became of them; dropped are those that no collector got",
            spans,
        );
        metrics::encode_text(&registry)
    }
}
