//! The record of a sale.

use platform_core::audit::{Record, RecordEntry, RecordSummary};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// The log of one item, chained by hash, for somebody outside to check: docs/audit.md says how.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Record)]
pub(crate) struct RecordView {
    /// `lotwire.record.1`.
    format: String,
    item: Uuid,
    /// Number of the entry before the first one here; 0 in the first part.
    after: i64,
    /// Hash before the first entry here, 64 hexadecimal digits. Before entry 1 it is made of the item's UUID.
    previous_hash: String,
    entries: Vec<RecordEntryView>,
    /// Ask with `after=` this for the next part; null in the last one.
    next: Option<i64>,
    /// Number of the last entry of the log.
    head_number: i64,
    /// Hash of the last entry of the log.
    head_hash: String,
    summary: RecordSummaryView,
}

/// One entry of a log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RecordEntry)]
pub(crate) struct RecordEntryView {
    /// JSON as text: its bytes are what the hash covers. Amounts that are nobody's business are commitments in it.
    content: String,
    /// SHA-256, 64 hexadecimal digits.
    hash: String,
}

/// What the log comes to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordSummary)]
pub(crate) struct RecordSummaryView {
    auction: Uuid,
    lot_number: String,
    title: String,
    status: &'static str,
    /// Minor units.
    price: Option<i64>,
    /// Who leads, or bought it.
    leader: Option<String>,
    bid_count: i64,
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
