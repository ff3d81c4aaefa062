//! Catalogue import: a CSV file becomes items of an auction, all of them or none.
//!
//! The file has a header. `lot_number` and `title` are required; the other columns (`description`, `category`, `artist`, `date`,
//! `medium`, `dimensions`, `credit`, `image_url`, `low_estimate`, `high_estimate`, `opening_bid`, `reserve`, `buy_now`,
//! `fixed_increment`, `vendor`, `end_time`, `attachments`, `currency`) are optional. Amounts are in major units with a
//! decimal point, as [`mod@write`] exports them ([`crate::amounts`]). A file whose `currency` is not that of the auction is
//! refused. The columns that describe a lot become lines of the item's description.
//!
//! A house's own file, a CSV file or a sheet of a [`workbook`], with any headers, separators and encoding, is merged by lot number ([`merge`]).
//!
//! The file is read as a stream. Every mistake is reported with its line, its column and what to do. Only a file
//! without mistakes is imported. A dry run checks the file in the same way and imports nothing.

mod amount_cells;
mod cells;
mod columns;
mod formula;
mod hashing_reader;
mod house_rows;
mod import;
mod known_headers;
mod merge;
mod propose_mapping;
mod read;
mod records;
mod report;
mod sample;
mod transcode;
mod uploads;
mod vendors;
pub mod workbook;
pub mod write;

use contract::ItemStatus;
use uuid::Uuid;

pub use cells::{CellAt, CellValue, DoubtfulCell, FaultyCell, MendedCell, MendedCells, ReadCell};
pub(crate) use formula::unescape_formula;
pub(crate) use house_rows::{header_texts, house_records};
pub use merge::{CatalogueMerge, MergeOutcome, MergeReport, MergedRow};
pub(crate) use propose_mapping::normalised;
pub use propose_mapping::{MAPPED_COLUMNS_MAX, mappable_fields};
pub(crate) use read::fault_message;
pub(crate) use records::{FieldFault, ReadError, Record};
pub use report::{ImportReport, RowError};
pub use sample::CatalogueSample;
pub use uploads::{ArchiveUpload, CatalogueUploadWriter};
pub use vendors::NewConsignors;
pub(crate) use write::line as csv_line;

pub use crate::port::{CatalogueUpload, ColumnMapping, UploadedSheet};

/// The number of items in a catalogue file, and its mistakes.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_items(source: &[u8], limits: &crate::config::CatalogueLimits) -> (u64, ImportReport) {
    let setting = crate::sales::new_item::ItemContext { kind: platform_rules::AuctionKind::Timed, starts_at: None };
    let currency = crate::amounts::CurrencyFormat::of("GBP");
    let (items, report) = read::read(source, limits, read::RowTarget { status: ItemStatus::Draft, setting, currency });
    (items.len() as u64, report)
}

/// Whether an import changes the auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// Imports the items.
    Import,
    /// Reads and checks the file, and changes nothing.
    DryRun,
}

/// The input of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueImport {
    /// The auction.
    pub auction: Uuid,
    /// Import or dry run.
    pub mode: ImportMode,
    /// Status of the new items: DRAFT, or LIVE in a LIVE auction.
    pub status: ItemStatus,
    /// The version of the auction that the caller saw; none for any version.
    pub expected_version: Option<i64>,
}
