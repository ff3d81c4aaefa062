//! How many bytes of request bodies are read at the same time, over all listeners of the process.
//!
//! A body of a megabyte that stops before its last byte holds what has come of it until it is given up, and connections are
//! many. The beginning of each body is free, so that ordinary requests go on whatever large ones do; what is beyond it is
//! counted as it arrives, and whoever would bring the sum over the limit is told to come again.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of all bodies together, beyond what is free of each.
const BYTES_MAX: usize = 128 * 1024 * 1024;
/// Bytes of each body that are not counted.
pub(crate) const FREE_BYTES: usize = 16 * 1024;

/// The bodies of this process.
pub(crate) static BODIES: Bodies = Bodies::new(BYTES_MAX);

/// Counts bytes of bodies that are being read.
pub(crate) struct Bodies {
    bytes: AtomicUsize,
    bytes_max: usize,
}

/// What one body takes of the sum. Dropping it gives that back.
pub(crate) struct Part<'a> {
    of: &'a Bodies,
    bytes: usize,
}

/// There is no room for more at the moment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Bodies {
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self { bytes: AtomicUsize::new(0), bytes_max }
    }

    /// A body of which nothing has come.
    pub(crate) fn begin(&self) -> Part<'_> {
        Part { of: self, bytes: 0 }
    }
}

impl Part<'_> {
    /// So many bytes of the body have come until now.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), Full> {
        let counted = bytes.saturating_sub(FREE_BYTES);
        let more = counted.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let before = self.of.bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        if before.saturating_add(more) > self.of.bytes_max { Err(Full) } else { Ok(()) }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
