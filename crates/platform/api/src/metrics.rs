//! The platform's figures for `/metrics`.

use kit_http::metrics::{Gathering, Source};
use platform_core::Platform;

/// The platform as a source of figures.
pub(crate) struct Figures(pub(crate) Platform);

impl Source for Figures {
    fn gather<'a>(&'a self, _named: &'a [String]) -> Gathering<'a> {
        Box::pin(async { Ok(self.0.figures()) })
    }
}
