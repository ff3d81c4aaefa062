//! Metrics of the disk reserve.

use std::sync::Arc;

use kit_http::metrics::{MetricsFuture, Source};
use kit_runtime::disk_space::DiskReserve;

/// The metrics of a reserve.
pub(crate) fn source(reserve: Arc<DiskReserve>) -> Arc<dyn Source> {
    Arc::new(ReserveMetrics(reserve))
}

struct ReserveMetrics(Arc<DiskReserve>);

impl Source for ReserveMetrics {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        let (reserve, refused) = (self.0.reserve_bytes(), self.0.refused());
        let text = format!(
            "# HELP lotwire_disk_reserve_bytes Free disk below which new work is refused; 0 for none.\n\
             # TYPE lotwire_disk_reserve_bytes gauge\n\
             # UNIT lotwire_disk_reserve_bytes bytes\n\
             lotwire_disk_reserve_bytes {reserve}\n\
             # HELP lotwire_disk_refused Requests refused because less than the reserve was free.\n\
             # TYPE lotwire_disk_refused counter\n\
             lotwire_disk_refused_total {refused}\n"
        );
        Box::pin(async move { Ok(text) })
    }
}
