//! Limits the memory of request bodies, over all listeners of the process.
//!
//! A body that stops before its end keeps its bytes in memory until its timeout, and a complete body waits with its
//! request, for example while the database is unreachable. With many connections this could exhaust the memory. The
//! first 16 KiB of each body are not counted, so that ordinary requests always succeed. Further bytes count from their
//! arrival until the request drops the body. A body that would exceed the limit is rejected with 503.
//!
//! Bodies of callers without a key have a limit of their own ([`crate::unauthenticated_body`]), so that such callers
//! can't make requests with a key fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;

use crate::metrics::{MetricsFuture, Source};

/// Default limit of the counted bytes of all bodies; [`set_limit`] changes it.
pub const BYTES_MAX: usize = 128 * 1024 * 1024;
/// Bytes of each body that are not counted.
pub(crate) const UNCOUNTED_BYTES: usize = 16 * 1024;

/// Limit of the bytes of all bodies whose callers have shown no key.
const UNAUTHENTICATED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The bodies of the requests with a key.
pub(crate) static BODY_MEMORY: BodyMemory = BodyMemory::new(BYTES_MAX, UNCOUNTED_BYTES);
/// The bodies of the requests whose callers have shown no key, each counted from its first byte.
pub(crate) static UNAUTHENTICATED_BODY_MEMORY: BodyMemory = BodyMemory::new(UNAUTHENTICATED_BYTES_MAX, 0);

/// Counts bytes of bodies.
pub(crate) struct BodyMemory {
    bytes: AtomicUsize,
    bytes_max: AtomicUsize,
    /// Bytes of each body that are not counted.
    uncounted_bytes: usize,
    refused: AtomicU64,
}

/// The counted bytes of one body. Dropping it releases them.
pub(crate) struct BodyReservation<'a> {
    of: &'a BodyMemory,
    bytes: usize,
}

/// A complete body with its reservation.
struct ReservedBody {
    body: Bytes,
    _part: BodyReservation<'static>,
}

/// The limit is reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BodyMemoryFull;

impl BodyMemory {
    pub(crate) const fn new(bytes_max: usize, uncounted_bytes: usize) -> Self {
        let (bytes, bytes_max) = (AtomicUsize::new(0), AtomicUsize::new(bytes_max));
        Self { bytes, bytes_max, uncounted_bytes, refused: AtomicU64::new(0) }
    }

    /// A reservation for a body of which no byte has arrived.
    pub(crate) fn reserve(&self) -> BodyReservation<'_> {
        BodyReservation { of: self, bytes: 0 }
    }

    /// The limit of the counted bytes of all bodies.
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max.load(Ordering::Relaxed)
    }
}

/// Sets the limit of the bytes of request bodies in memory, beyond the first 16 KiB of each.
pub fn set_limit(bytes_max: usize) {
    BODY_MEMORY.bytes_max.store(bytes_max, Ordering::Relaxed);
}

/// The metrics of the request bodies of this process.
pub fn metrics_source() -> Arc<dyn Source> {
    Arc::new(BodyMemoryMetrics(&BODY_MEMORY))
}

struct BodyMemoryMetrics(&'static BodyMemory);

impl Source for BodyMemoryMetrics {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        let BodyMemory { bytes, refused, .. } = self.0;
        let (bytes, refused) = (bytes.load(Ordering::Relaxed), refused.load(Ordering::Relaxed));
        let text = format!(
            "# HELP lotwire_http_bodies_bytes Bytes of request bodies in memory, beyond the first {UNCOUNTED_BYTES} \
             of each.\n\
             # TYPE lotwire_http_bodies_bytes gauge\n\
             # UNIT lotwire_http_bodies_bytes bytes\n\
             lotwire_http_bodies_bytes {bytes}\n\
             # HELP lotwire_http_bodies_refused Request bodies refused because too many bytes of others were in memory.\n\
             # TYPE lotwire_http_bodies_refused counter\n\
             lotwire_http_bodies_refused_total {refused}\n"
        );
        Box::pin(async move { Ok(text) })
    }
}

impl BodyReservation<'_> {
    /// Counts a body of which `bytes` have arrived so far.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), BodyMemoryFull> {
        let counted = bytes.saturating_sub(self.of.uncounted_bytes);
        let more = counted.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let before = self.of.bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        if before.saturating_add(more) <= self.of.bytes_max.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.of.refused.fetch_add(1, Ordering::Relaxed);
        Err(BodyMemoryFull)
    }
}

impl BodyReservation<'static> {
    /// The body. Its bytes count until the last of its clones and slices is dropped.
    pub(crate) fn attach_to(self, body: Bytes) -> Bytes {
        match self.bytes {
            0 => body,
            _ => Bytes::from_owner(ReservedBody { body, _part: self }),
        }
    }
}

impl AsRef<[u8]> for ReservedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Drop for BodyReservation<'_> {
    fn drop(&mut self) {
        self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counted_bytes_and_rejections_follow_the_configured_limit() {
        static FEW: BodyMemory = BodyMemory::new(3_000, UNCOUNTED_BYTES);
        let shown = async || {
            let text = BodyMemoryMetrics(&FEW).gather(&[]).await.unwrap();
            let figure =
                |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok()).unwrap();
            (figure("lotwire_http_bodies_bytes "), figure("lotwire_http_bodies_refused_total "))
        };
        let (mut one, mut other) = (FEW.reserve(), FEW.reserve());
        assert_eq!((one.grow_to(UNCOUNTED_BYTES), one.grow_to(UNCOUNTED_BYTES + 2_000)), (Ok(()), Ok(())));
        assert_eq!(shown().await, (2_000, 0));
        assert_eq!(other.grow_to(UNCOUNTED_BYTES + 2_000), Err(BodyMemoryFull));
        drop(other);
        assert_eq!(shown().await, (2_000, 1));
        FEW.bytes_max.store(4_000, Ordering::Relaxed);
        assert_eq!(FEW.reserve().grow_to(UNCOUNTED_BYTES + 2_000), Ok(()));
        let body = one.attach_to(Bytes::from_static(b"{\"payload\":{}}"));
        assert_eq!(body, "{\"payload\":{}}");
        let payload = body.slice(11..13);
        drop(body);
        assert_eq!((&payload[..], shown().await), (&b"{}"[..], (2_000, 1)));
        drop(payload);
        assert_eq!(shown().await, (0, 1));
    }
}
