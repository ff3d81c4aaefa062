//! When certificates end, for Prometheus.

use std::path::Path;
use std::sync::PoisonError;

use kit_runtime::metrics::{Family, Gauge, Labels, Registry, encode_text};

use super::Certificates;
use crate::metrics::{MetricsFuture, Source};

impl Source for Certificates {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        let mut registry = Registry::with_prefix("lotwire_tls_certificate");
        let (ends, refused) = (Family::<Labels, Gauge>::default(), Family::<Labels, Gauge>::default());
        registry.register(
            "not_after_timestamp_seconds",
            "When the certificate in use ends, as Unix time",
            ends.clone(),
        );
        registry.register("refused", "1 while the files have a certificate that can't be used", refused.clone());
        let labels = |path: &Path| -> Labels { vec![("certificate", path.display().to_string())] };
        for (path, certificate) in self.current() {
            ends.get_or_create(&labels(&path)).set(certificate.not_after().as_second());
            refused.get_or_create(&labels(&path)).set(0);
        }
        for path in self.refused.lock().unwrap_or_else(PoisonError::into_inner).keys() {
            refused.get_or_create(&labels(path)).set(1);
        }
        let text = encode_text(&registry);
        Box::pin(async move { Ok(text) })
    }
}
