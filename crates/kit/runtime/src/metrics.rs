//! Figures about a running process, for Prometheus: what every system here counts with.
//!
//! A system keeps a [`Registry`] with its figures; a surface (`http-kit`) serves the text of several. Counting costs an
//! atomic addition; a time two ([`DurationHistogram`]); another histogram, a short lock.

mod duration_histogram;

pub use duration_histogram::DurationHistogram;
pub use prometheus_client::metrics::counter::Counter;
pub use prometheus_client::metrics::family::Family;
pub use prometheus_client::metrics::gauge::Gauge;
pub use prometheus_client::metrics::histogram::Histogram;
pub use prometheus_client::registry::{Registry, Unit};

/// Labels of a figure: names and values.
pub type Labels = Vec<(&'static str, String)>;

/// A histogram of times in seconds: from half a millisecond to a minute. What happens on a hot path is counted by [`DurationHistogram`].
pub fn seconds_histogram() -> Histogram {
    Histogram::new([0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0])
}

/// A histogram of how many were done together: from 1 to 1,024.
pub fn batch_size_histogram() -> Histogram {
    Histogram::new((0..=10).map(|power| f64::from(1_u32 << power)))
}

/// The figures as OpenMetrics text without its end mark (`# EOF`), so that texts can be joined.
pub fn encode_text(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = prometheus_client::encoding::text::encode_registry(&mut text, registry);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_text_that_can_be_joined() {
        let mut registry = Registry::with_prefix("house");
        let (sold, took) = (Counter::<u64>::default(), DurationHistogram::default());
        registry.register("sold", "Lots sold", sold.clone());
        registry.register_with_unit("sale", "Time of a sale", Unit::Seconds, took.clone());
        sold.inc_by(3);
        took.observe(std::time::Duration::from_millis(3));
        let text = encode_text(&registry);
        assert!(text.contains("house_sold_total 3\n"), "{text}");
        assert!(text.contains("house_sale_seconds_bucket{le=\"0.005\"} 1\n"), "{text}");
        assert!(!text.contains("# EOF"), "{text}");
    }
}
