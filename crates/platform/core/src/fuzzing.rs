//! Entry points for the fuzz targets (`fuzz/`) to the parsers of external input in this crate. No released build
//! contains them.

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

use crate::catalogue::ImportReport;
use crate::config::CatalogueLimits;

/// Judges a provider's response: none when the event was published, otherwise the text for support.
pub fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Option<String> {
    crate::publishing::judged(status, headers, body, now)
}

/// The number of items in a catalogue file, and its mistakes.
pub fn read_catalogue(source: &[u8]) -> (u64, ImportReport) {
    let (items, report) = crate::catalogue::read_items(source, &CatalogueLimits::default());
    (items, report)
}
