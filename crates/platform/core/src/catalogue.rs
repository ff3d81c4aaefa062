//! Catalogue import: a CSV file becomes items of an auction, all of them or none.
//!
//! The file has a header; `lot_number` and `title` must be there, the other columns (`description`, `artist`, `date`,
//! `medium`, `dimensions`, `credit`, `image_url`, `low_estimate`, `high_estimate`, `opening_bid`, `reserve`, `buy_now`,
//! `fixed_increment`, `vendor`, `end_time`, `attachments`) may be. Amounts are whole minor units of the auction's
//! currency. What describes a lot becomes the item's description, a line each. What [`mod@write`] exports is read back.
//!
//! The source is read as it comes; every mistake is reported with its line, its column and what to do. Only a file
//! without any is imported. A dry run does everything but that.

mod columns;
mod formula;
mod hashing_reader;
mod import;
mod price;
mod read;
mod records;
mod report;
pub mod write;

use contract::ItemStatus;
use uuid::Uuid;

pub use report::{ImportReport, RowError};

/// The number of items in a catalogue file, and what is wrong with it.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_items(source: &[u8], limits: &crate::config::CatalogueLimits) -> (u64, ImportReport) {
    let setting = crate::sales::new_item::ItemContext { kind: platform_rules::AuctionKind::Timed, starts_at: None };
    let (items, report) = read::read(source, limits, read::RowTarget { status: ItemStatus::Draft, setting });
    (items.len() as u64, report)
}

/// How far an import goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// All the way.
    Import,
    /// Reads and checks, and changes nothing.
    DryRun,
}

/// Where a catalogue goes, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueImport {
    /// The auction.
    pub auction: Uuid,
    /// How far it goes.
    pub mode: ImportMode,
    /// Status of the new items: DRAFT, or LIVE in a LIVE auction.
    pub status: ItemStatus,
    /// The auction's version that the caller saw, if it must be that one.
    pub expected_version: Option<i64>,
}
