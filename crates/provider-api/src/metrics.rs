//! The provider's figures for `/metrics`; `?endpoint=ep_…` (up to twenty) adds those of single endpoints.

use http_kit::metrics::{Gathering, Source};
use provider::Provider;

/// The provider as a source of figures.
pub(crate) struct Figures(pub(crate) Provider);

impl Source for Figures {
    fn parameter(&self) -> Option<&'static str> {
        Some("endpoint")
    }

    fn gather<'a>(&'a self, named: &'a [String]) -> Gathering<'a> {
        Box::pin(async move { Ok(self.0.metrics(named).await) })
    }
}
