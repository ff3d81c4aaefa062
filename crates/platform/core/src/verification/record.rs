//! The record of one sale for a third party: the item's log with its hash chain, without its confidential values.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{AuctionKind, Item, LogHash, Rejection};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::audit::entry::chain_begin;
use crate::audit::times;
use crate::error::{PlatformError, PlatformResult};
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// Entries of a record, at most; a longer log needs several parts.
pub const RECORD_ENTRIES_MAX: usize = 10_000;

/// The `format` of a record.
pub const RECORD_FORMAT: &str = "lotwire.record.1";

/// The record of one sale, or one part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// [`RECORD_FORMAT`].
    pub format: String,
    /// The item.
    pub item: Uuid,
    /// Number of the entry before the first one here; 0 in a record of one part.
    pub after: i64,
    /// Hash before the first entry here; before entry 1, the hash of the item's UUID.
    pub previous_hash: LogHash,
    /// Entries, by their number.
    pub entries: Vec<RecordEntry>,
    /// The `after` of the next part; none at the end.
    pub next: Option<i64>,
    /// Number of the last entry of the log.
    pub head_number: i64,
    /// Hash of the last entry of the log.
    pub head_hash: LogHash,
    /// The result of the log.
    pub summary: RecordSummary,
}

/// One entry without its confidential values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordEntry {
    /// JSON as text, because its bytes are what the hash covers.
    pub content: String,
    /// SHA-256 over the domain, the hash before and the content.
    pub hash: LogHash,
}

/// The public result of an item's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordSummary {
    /// Its auction.
    pub auction: Uuid,
    /// Lot number.
    pub lot_number: String,
    /// Title.
    pub title: String,
    /// Status.
    pub status: ItemStatus,
    /// The price, minor units.
    pub price: Option<i64>,
    /// Paddle of the leading bidder or the buyer.
    pub leader: Option<String>,
    /// Accepted bids, absentee bids included.
    pub bid_count: i64,
    /// Effective end in a timed auction.
    #[serde(serialize_with = "times::write_option")]
    pub effective_end_time: Option<Timestamp>,
}

impl RecordSummary {
    pub(super) fn of(item: &Item) -> Self {
        Self {
            auction: item.auction,
            lot_number: item.lot_number.clone(),
            title: item.title.clone(),
            status: item.status,
            price: item.price(),
            leader: item.standing.as_ref().and_then(|standing| standing.known_bidder()).map(str::to_owned),
            bid_count: item.bid_count,
            // To the millisecond, as the record writes it.
            effective_end_time: item
                .effective_end_time
                .and_then(|end| Timestamp::from_millisecond(end.as_millisecond()).ok()),
        }
    }
}

impl Platform {
    /// The record of an item's sale, from the entry after `after` (0 for the first part), at most
    /// [`RECORD_ENTRIES_MAX`] entries. Maxima, the reserve, the vendor and pending bids are in it as commitments.
    ///
    /// The record of a webcast's item shows that absentee bids exist. While the item can still be sold, only the clerk
    /// gets it.
    ///
    /// Errors: `not_found`, `record_not_open`, `clerk_not_assigned`; `invalid` when the log has no entry `after`.
    pub async fn record(&self, caller: &Caller, uuid: Uuid, after: i64) -> PlatformResult<Record> {
        let (item, auction) = self.item(caller, uuid).await?;
        caller.require(Scope::AuctionsRead)?;
        if auction.kind == AuctionKind::Webcast && is_for_sale(item.status) {
            caller.require(Scope::RingWrite).map_err(|_| Rejection::RecordNotOpen)?;
            self.require_clerk(caller, &auction).await?;
        }
        let head = item.log;
        if !(0..=head.number).contains(&after) {
            return Err(PlatformError::invalid("/after", format!("must be 0 to {}", head.number)));
        }
        let previous_hash = match after {
            0 => chain_begin(uuid),
            _ => {
                let before = self.store().log_entries(uuid, Page { after: Some(after - 1), limit: 1 }).await?;
                let before = before.first().filter(|entry| entry.number == after);
                before.ok_or_else(|| PlatformError::Internal(format!("entry {after} of the log is missing")))?.hash
            }
        };
        let entries = self.store().log_entries(uuid, Page { after: Some(after), limit: RECORD_ENTRIES_MAX }).await?;
        // Entries of bids that came after the item was read belong to a later record.
        let entries = entries.into_iter().filter(|entry| entry.number <= head.number);
        let entries: Vec<RecordEntry> =
            entries.map(|entry| RecordEntry { content: entry.content, hash: entry.hash }).collect();
        let last = after.saturating_add(i64::try_from(entries.len()).unwrap_or(i64::MAX));
        Ok(Record {
            format: RECORD_FORMAT.to_owned(),
            item: uuid,
            after,
            previous_hash,
            entries,
            next: (last < head.number).then_some(last),
            head_number: head.number,
            head_hash: head.hash,
            summary: RecordSummary::of(&item),
        })
    }
}

fn is_for_sale(status: ItemStatus) -> bool {
    matches!(
        status,
        ItemStatus::Draft | ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended | ItemStatus::Passed
    )
}
