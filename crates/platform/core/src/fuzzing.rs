//! Doors for the fuzz targets (`fuzz/`) to what reads outside input within this crate. Not part of any build that
//! ships.

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

use crate::catalogue::ImportReport;
use crate::config::CatalogueLimits;

/// What a provider's answer means: the text for support, when it is not that the event was published.
pub fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Option<String> {
    crate::publishing::judged(status, headers, body, now)
}

/// The number of items in a catalogue file, and what is wrong with it.
pub fn read_catalogue(source: &[u8]) -> (u64, ImportReport) {
    let (items, report) = crate::catalogue::read_items(source, &CatalogueLimits::default());
    (items, report)
}
