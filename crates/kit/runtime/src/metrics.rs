//! Metrics for Prometheus.
//!
//! The platform and the provider each keep a [`Registry`]; `kit-http` serves the text of all registries at `/metrics`.
//! A counter costs one atomic addition, a [`DurationHistogram`] two, and another histogram a short lock.

mod duration_histogram;
mod reading_cache;

pub use duration_histogram::DurationHistogram;
pub use reading_cache::ReadingCache;

pub use prometheus_client::collector::Collector;
pub use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
pub use prometheus_client::metrics::counter::{ConstCounter, Counter};
pub use prometheus_client::metrics::family::Family;
pub use prometheus_client::metrics::gauge::Gauge;
pub use prometheus_client::metrics::histogram::Histogram;
pub use prometheus_client::registry::{Registry, Unit};

/// A gauge of a number that need not be whole, such as seconds.
pub type FloatGauge = Gauge<f64, std::sync::atomic::AtomicU64>;

/// Labels of a metric: names and values.
pub type Labels = Vec<(&'static str, String)>;

/// A histogram of durations in seconds, from half a millisecond to a minute. Hot paths use [`DurationHistogram`].
pub fn seconds_histogram() -> Histogram {
    Histogram::new([0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0])
}

/// A histogram of batch sizes, from 1 to 1,024.
pub fn batch_size_histogram() -> Histogram {
    Histogram::new((0..=10).map(|power| f64::from(1_u32 << power)))
}

/// The metrics as OpenMetrics text without the final `# EOF`, so that the texts of several registries can be joined.
pub fn encode_text(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = prometheus_client::encoding::text::encode_registry(&mut text, registry);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_metrics_have_no_end_marker_so_that_texts_can_be_joined() {
        let mut registry = Registry::with_prefix("test");
        let (sold, took) = (Counter::<u64>::default(), DurationHistogram::default());
        registry.register("sold", "Lots sold", sold.clone());
        registry.register_with_unit("sale", "Time of a sale", Unit::Seconds, took.clone());
        sold.inc_by(3);
        took.observe(std::time::Duration::from_millis(3));
        let text = encode_text(&registry);
        assert!(text.contains("test_sold_total 3\n"), "{text}");
        assert!(text.contains("test_sale_seconds_bucket{le=\"0.005\"} 1\n"), "{text}");
        assert!(!text.contains("# EOF"), "{text}");
    }
}
