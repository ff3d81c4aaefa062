//! Catalogue import: a CSV file becomes items of an auction, all of them or none.
//!
//! The file has a header; `lot_number` and `title` must be there, the other columns (`description`, `artist`, `date`,
//! `medium`, `dimensions`, `credit`, `image_url`, `low_estimate`, `high_estimate`, `opening_bid`, `reserve`, `buy_now`,
//! `fixed_increment`, `vendor`, `end_time`, `attachments`) may be. Amounts are whole minor units of the auction's currency.
//! What describes a lot becomes the item's description, a line each. What [`mod@write`] exports is read back.
//!
//! The source is read as it comes; every mistake is told with its line, its column and what to do. Only a file without any
//! is imported, in one change. A dry run does everything but that.

mod columns;
mod read;
mod records;
mod report;
mod safe;
pub mod write;

use std::collections::HashMap;
use std::io::Read;

use auction::Item;
use contract::ItemStatus;
use uuid::Uuid;

pub use report::{ImportReport, RowError};

use crate::deciding::{Decision, expect_version};
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{Answering, Outcome};
use crate::items::Entry;
use crate::new_item::NewItem;
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 5_000;

/// The number of items in a catalogue file, and what is wrong with it.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_items(
    source: &[u8],
    limits: &crate::config::CatalogueLimits,
    status: ItemStatus,
) -> (u64, ImportReport) {
    let (items, report) = read::read(source, limits, status);
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

impl Platform {
    /// Imports a catalogue into an auction. A report with errors means that nothing was imported.
    ///
    /// Errors: `not_found`, `precondition_failed`, and those of [`auction::item::decide`].
    pub async fn import_catalogue(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        source: impl Read + Send + 'static,
        answering: Option<Answering<'_, ImportReport>>,
    ) -> PlatformResult<Outcome<ImportReport>> {
        caller.require(Scope::AuctionsWrite)?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let CatalogueImport { auction, mode, status, expected_version } = import;
        let found = self.seen_auction(caller, auction).await?;
        expect_version(expected_version, found.version)?;
        let limits = self.config().catalogue.clone();
        // A file or a request body: reading may wait.
        let reading = tokio::task::spawn_blocking(move || read::read(source, &limits, status));
        let (rows, mut report) =
            reading.await.map_err(|error| PlatformError::Internal(format!("reading the catalogue: {error}")))?;
        self.check_against_auction(auction, &rows, &mut report).await?;
        report.items = if report.error_count == 0 { rows.len() as u64 } else { 0 };
        if report.error_count > 0 {
            return Ok(Outcome::Fresh(report));
        }
        let items: Vec<NewItem> = rows.into_iter().map(|(_, item)| item).collect();
        if mode == ImportMode::DryRun {
            // The rules of the auction itself are asked, too.
            self.draft_items(caller, found, &items, Entry::Catalogue).await?;
            return Ok(Outcome::Fresh(report));
        }
        self.decide(answering.as_ref(), || async {
            let auction = self.seen_auction(caller, auction).await?;
            expect_version(expected_version, auction.version)?;
            let customer = auction.customer;
            let (draft, _) = self.draft_items(caller, auction, &items, Entry::Catalogue).await?;
            let change = draft.finish(answering.as_ref(), &report);
            Ok(Decision { customer, change, result: report.clone() })
        })
        .await
        .inspect(|_| self.ends_moved().notify())
    }

    /// Lot numbers that the auction has already, and its size.
    async fn check_against_auction(
        &self,
        auction: Uuid,
        rows: &[(u64, NewItem)],
        report: &mut ImportReport,
    ) -> PlatformResult<()> {
        let errors_max = self.config().catalogue.errors_max;
        let lines: HashMap<&str, u64> = rows.iter().map(|(line, item)| (item.lot_number.as_str(), *line)).collect();
        let mut taken: Vec<(u64, String)> = Vec::new();
        let mut existing = 0;
        let mut after = None;
        loop {
            let items: Vec<Item> = self.store().items(auction, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { break };
            existing += items.len();
            let of_item = |item: Item| Some((*lines.get(item.lot_number.as_str())?, item.lot_number));
            taken.extend(items.into_iter().filter_map(of_item));
            after = Some(last);
        }
        taken.sort();
        for (line, lot) in taken {
            let message = format!("the auction has a lot {lot} already: give it another number, or remove the row");
            report.error(RowError { line, column: Some("lot_number".into()), message }, errors_max);
        }
        let items_max = self.config().auction_items_max;
        if existing + rows.len() > items_max {
            let message =
                format!("an auction has at most {items_max} items, it has {existing} and the file {}", rows.len());
            report.error(RowError { line: 1, column: None, message }, errors_max);
        }
        report.errors.sort_by_key(|error| error.line);
        Ok(())
    }
}
