//! A histogram of durations for hot paths: an observation takes no lock, only two atomic additions.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// Upper bounds of the buckets: from half a millisecond to an hour.
const BOUNDS_US: [u64; 18] = [
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
    3_600_000_000,
];
const US_PER_S: f64 = 1_000_000.0;

/// A histogram in seconds. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct DurationHistogram(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Counts by upper bound; the last one counts the durations above all bounds.
    buckets: [AtomicU64; BOUNDS_US.len() + 1],
    sum_us: AtomicU64,
}

impl DurationHistogram {
    /// Counts a duration, to the microsecond.
    pub fn observe(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.partition_point(|bound| *bound < us);
        self.0.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.0.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// True once a duration was observed.
    pub fn is_used(&self) -> bool {
        self.0.buckets.iter().any(|bucket| bucket.load(Ordering::Relaxed) > 0)
    }
}

impl EncodeMetric for DurationHistogram {
    /// A concurrent observation may be in the sum and not yet in its bucket, or the other way round.
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let bounds = BOUNDS_US.iter().map(|us| *us as f64 / US_PER_S).chain([f64::INFINITY]);
        let counts = self.0.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let sum = self.0.sum_us.load(Ordering::Relaxed) as f64 / US_PER_S;
        let count = buckets.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Registry, Unit, encode_text};
    use super::*;

    #[test]
    fn a_duration_counts_in_the_bucket_of_the_first_bound_not_below_it() {
        let times = DurationHistogram::default();
        for ms in [0, 1, 3, 3_600_000, 3_600_001] {
            times.clone().observe(Duration::from_millis(ms));
        }
        let mut registry = Registry::with_prefix("test");
        registry.register_with_unit("sale", "Time of a sale", Unit::Seconds, times);
        let text = encode_text(&registry);
        assert!(text.contains("# TYPE test_sale_seconds histogram\n"), "{text}");
        for (bound, count) in
            [("0.0005", 1), ("0.001", 2), ("0.002", 2), ("0.005", 3), ("300.0", 3), ("3600.0", 4), ("+Inf", 5)]
        {
            let line = format!("test_sale_seconds_bucket{{le=\"{bound}\"}} {count}\n");
            assert!(text.contains(&line), "no {line} in {text}");
        }
        assert!(
            text.contains("test_sale_seconds_count 5\n") && text.contains("test_sale_seconds_sum 7200.005\n"),
            "{text}"
        );
    }
}
