//! Metrics of the provider for `/metrics`. Up to twenty parameters `endpoint=ep_…` add the metrics of single endpoints.

use kit_http::metrics::{MetricsFuture, Source};
use provider_core::Provider;

/// The provider as a source of metrics.
pub(crate) struct ProviderMetrics(pub(crate) Provider);

impl Source for ProviderMetrics {
    fn parameter(&self) -> Option<&'static str> {
        Some("endpoint")
    }

    fn gather<'a>(&'a self, named: &'a [String]) -> MetricsFuture<'a> {
        Box::pin(async move { Ok(self.0.metrics(named).await) })
    }
}
