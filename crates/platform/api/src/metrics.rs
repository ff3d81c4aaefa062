//! The platform's metrics for `/metrics`.

use kit_http::metrics::{MetricsFuture, Source};
use platform_core::Platform;

/// The platform as a source of metrics.
pub(crate) struct PlatformMetrics(pub(crate) Platform);

impl Source for PlatformMetrics {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        Box::pin(async { Ok(self.0.figures().await) })
    }
}
