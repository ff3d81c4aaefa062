//! The record of an item's sale.

use platform_core::verification::{Record, RecordEntry, RecordSummary};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A part of the log of one item, chained by hash. A reader can verify it without this platform: docs/operate/audit.md
/// says how.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Record)]
pub(crate) struct RecordView {
    /// Format of the record: `lotwire.record.1`.
    format: String,
    /// UUID of the item.
    item: Uuid,
    /// Number of the entry before the first one of this part; 0 in the first part.
    after: i64,
    /// Hash before the first entry of this part, as 64 hexadecimal digits. Before entry 1 it is derived from the item's
    /// UUID.
    previous_hash: String,
    /// Entries of this part, in order.
    entries: Vec<RecordEntryView>,
    /// The value to send as `after` for the next part; null in the last one.
    next: Option<i64>,
    /// Number of the last entry of the log.
    head_number: i64,
    /// Hash of the last entry of the log.
    head_hash: String,
    /// The state of the item to which the log leads.
    summary: RecordSummaryView,
}

/// One entry of a log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RecordEntry)]
pub(crate) struct RecordEntryView {
    /// JSON as text: the hash covers its bytes. Confidential amounts are commitments in it.
    content: String,
    /// SHA-256, 64 hexadecimal digits.
    hash: String,
}

/// The state of an item to which its log leads.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordSummary)]
pub(crate) struct RecordSummaryView {
    /// UUID of the auction.
    auction: Uuid,
    /// Lot number, as printed.
    lot_number: String,
    /// Title.
    title: String,
    /// Status name.
    status: &'static str,
    /// Amount of the standing bid, in minor units; null without a bid.
    price: Option<i64>,
    /// Paddle of the leading bidder or the buyer; null without a bid.
    leader: Option<String>,
    /// Number of accepted bids.
    bid_count: i64,
    /// End in a timed auction, with all extensions.
    #[schema(format = DateTime)]
    effective_end_time: Option<String>,
}

impl From<&Record> for RecordView {
    fn from(record: &Record) -> Self {
        Self {
            format: record.format.clone(),
            item: record.item,
            after: record.after,
            previous_hash: record.previous_hash.to_string(),
            entries: record.entries.iter().map(RecordEntryView::from).collect(),
            next: record.next,
            head_number: record.head_number,
            head_hash: record.head_hash.to_string(),
            summary: RecordSummaryView::from(&record.summary),
        }
    }
}

impl From<&RecordEntry> for RecordEntryView {
    fn from(entry: &RecordEntry) -> Self {
        Self { content: entry.content.clone(), hash: entry.hash.to_string() }
    }
}

impl From<&RecordSummary> for RecordSummaryView {
    fn from(summary: &RecordSummary) -> Self {
        Self {
            auction: summary.auction,
            lot_number: summary.lot_number.clone(),
            title: summary.title.clone(),
            status: summary.status.name(),
            price: summary.price,
            leader: summary.leader.clone(),
            bid_count: summary.bid_count,
            effective_end_time: summary.effective_end_time.map(time),
        }
    }
}
