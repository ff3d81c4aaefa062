//! The limits of a scan: what both stores share when they search messages and attempts.

use provider_core::model::Id;
use provider_core::port::{Order, Scan, ScanResult};

/// Watches a scan while its rows are looked at.
pub(crate) struct ScanProgress<'scan> {
    scan: &'scan Scan,
    looked: usize,
    found: usize,
    bytes: usize,
    stopped_at: Option<Id>,
}

/// Whether a scan goes on to the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanFlow {
    Continue,
    Stop,
}

impl<'scan> ScanProgress<'scan> {
    pub(crate) fn new(scan: &'scan Scan) -> Self {
        Self { scan, looked: 0, found: 0, bytes: 0, stopped_at: None }
    }

    /// A row was looked at, and was found if it has a number of `bytes`.
    pub(crate) fn record(&mut self, id: &str, found_bytes: Option<usize>) -> ScanFlow {
        self.looked += 1;
        if let Some(bytes) = found_bytes {
            self.found += 1;
            self.bytes += bytes;
            if self.found >= self.scan.limit {
                return ScanFlow::Stop;
            }
        }
        if self.looked >= self.scan.scanned_rows_max || self.bytes >= self.scan.bytes_max {
            self.stopped_at = Some(id.into());
            return ScanFlow::Stop;
        }
        ScanFlow::Continue
    }

    /// What was found.
    pub(crate) fn found<T>(self, rows: Vec<T>) -> ScanResult<T> {
        ScanResult { rows, stopped_at: self.stopped_at }
    }
}

/// Rows to read at most when each of them is wanted.
pub(crate) fn wanted_max(scan: &Scan) -> usize {
    scan.limit.min(scan.scanned_rows_max)
}

/// The end of a statement over rows of one owner by `key`: `$2` is above, `$3` below, `$4` rows at most.
pub(crate) fn sql(scan: &Scan, key: &str) -> String {
    let direction = match scan.direction {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    };
    format!(" AND {key} > $2 AND {key} < $3 ORDER BY {key} {direction} LIMIT $4")
}
