//! The limits of a scan over messages or attempts, shared by both engines.

use provider_core::model::Id;
use provider_core::port::{Order, Scan, ScanResult};

use crate::merge::Entry;

/// Counts the rows of a scan and ends the scan at its limits.
pub(crate) struct ScanProgress<'scan> {
    scan: &'scan Scan,
    scanned: usize,
    found: usize,
    bytes: usize,
    stopped_at: Option<Id>,
}

/// Whether a scan continues with the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanFlow {
    Continue,
    Stop,
}

impl<'scan> ScanProgress<'scan> {
    pub(crate) fn new(scan: &'scan Scan) -> Self {
        Self { scan, scanned: 0, found: 0, bytes: 0, stopped_at: None }
    }

    /// Records a scanned row. `found_bytes` is its size if it matches.
    pub(crate) fn record(&mut self, id: &str, found_bytes: Option<usize>) -> ScanFlow {
        self.scanned += 1;
        if let Some(bytes) = found_bytes {
            self.found += 1;
            self.bytes += bytes;
            if self.found >= self.scan.limit {
                return ScanFlow::Stop;
            }
        }
        if self.scanned >= self.scan.scanned_rows_max || self.bytes >= self.scan.bytes_max {
            self.stopped_at = Some(id.into());
            return ScanFlow::Stop;
        }
        ScanFlow::Continue
    }

    /// Ends the scan at this row, the last one that was scanned.
    pub(crate) fn stop_at(&mut self, id: &str) {
        self.stopped_at = Some(id.into());
    }

    pub(crate) fn found<T>(self, rows: Vec<T>) -> ScanResult<T> {
        ScanResult { rows, stopped_at: self.stopped_at }
    }
}

/// Rows that a search reads at once.
pub(crate) const BATCH_ROWS_MAX: usize = 5_000;

/// The entries within the bounds of the scan, in its order.
pub(crate) fn in_bounds(mut entries: Vec<Entry>, scan: &Scan) -> Vec<Entry> {
    entries.retain(|entry| *entry.message > *scan.above && *entry.message < *scan.below);
    match scan.direction {
        Order::Ascending => entries.sort_unstable_by(|one, other| one.message.cmp(&other.message)),
        Order::Descending => entries.sort_unstable_by(|one, other| other.message.cmp(&one.message)),
    }
    entries
}

/// Maximum number of rows to read when every row matches.
pub(crate) fn wanted_max(scan: &Scan) -> usize {
    scan.limit.min(scan.scanned_rows_max)
}

/// The end of a statement that scans the rows of one owner: at most `$4` rows with a `key` between `$2` and `$3`, both
/// excluded, in the order of the scan.
pub(crate) fn sql(scan: &Scan, key: &str) -> String {
    let direction = match scan.direction {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    };
    format!(" AND {key} > $2 AND {key} < $3 ORDER BY {key} {direction} LIMIT $4")
}
