//! When certificates end, for Prometheus.

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
        for place in &self.places {
            let labels: Labels = vec![("certificate", place.path.display().to_string())];
            ends.get_or_create(&labels).set(place.current().not_after().as_second());
            let is_refused = place.refused.lock().is_ok_and(|refused| refused.is_some());
            refused.get_or_create(&labels).set(i64::from(is_refused));
        }
        let text = encode_text(&registry);
        Box::pin(async move { Ok(text) })
    }
}
