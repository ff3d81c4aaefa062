//! Imports a catalogue. The file is read in chunks, which are staged. When the whole file is valid, one commit begins a
//! bulk change, whose steps insert the items of one chunk each ([`crate::sales::bulk_change`]). A file of one chunk is
//! imported in one commit.
//!
//! No item of a file with a mistake becomes visible. If the import is refused or the process is killed, the staged
//! chunks are deleted.

use std::collections::BTreeSet;
use std::io::Read;

use platform_rules::{Auction, Item};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::columns::Column;
use super::hashing_reader::{FileHash, HashingReader, combined_hash};
use super::read::{self, Lots, RowTarget};
use super::{CatalogueImport, ImportMode, ImportReport, RowError};
use crate::amounts::CurrencyFormat;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{BulkChange, BulkChangeStep, BulkOperation, IdempotentAnswer, Page};
use crate::sales::bulk_change::StagedBatch;
use crate::sales::items::ItemOrigin;
use crate::sales::new_item::{ItemContext, NewItem, problems_in};
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// Items read from the store at once.
const ITEMS_READ_MAX: usize = 1_000;
/// Characters of a currency in an error.
const CURRENCY_CHARS_MAX: usize = 20;
/// Chunks that were read and wait to be staged.
const CHUNKS_WAITING_MAX: usize = 1;

/// A text that names the consignor of a row.
struct NamedConsignor {
    /// Place of the item in its chunk; none after the first mistake of the file.
    place: Option<usize>,
    line: u64,
    text: String,
}

/// An import whose file is being read.
pub(super) struct ImportProgress {
    import: Uuid,
    /// The auction that the items were checked against, and its number of items then.
    auction: Auction,
    existing: i64,
    /// Items so far.
    items: i64,
    /// Pieces staged so far.
    chunks: i64,
    /// The first chunk, while it is the only one.
    only: Option<Vec<NewItem>>,
    /// The rejection of the items by the rules.
    refused: Option<PlatformError>,
}

impl Platform {
    /// Imports a catalogue into an auction. A report with errors means that nothing was imported. The call returns
    /// after all items are inserted. `answering` has the hash of the request without the file; the hash of the file is
    /// added to it.
    ///
    /// Errors: `not_found`, `precondition_failed`, `items_following`, `other_currency`, `disk_full`, and those of
    /// [`platform_rules::item::decide`].
    pub async fn import_catalogue(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        source: impl Read + Send + 'static,
        answering: Option<IdempotentRequest<'_, ImportReport>>,
    ) -> PlatformResult<Outcome<ImportReport>> {
        caller.require(Scope::AuctionsWrite)?;
        if let Some(answer) = self.stored_answer(answering.as_ref()).await? {
            return self.replay_import(import, source, answering.as_ref(), answer).await;
        }
        self.config().disk_reserve.check()?;
        let auction = self.visible_auction(caller, import.auction).await?;
        expect_version(import.expected_version, auction.version)?;
        self.require_no_bulk_change(&auction).await?;
        let mut progress = self.begin_import(auction).await?;
        let outcome = self.read_and_import(caller, import, source, &mut progress, answering).await;
        // If the outcome is unknown, the import may have begun and need its chunks.
        let is_uncertain = matches!(outcome, Err(PlatformError::Unavailable(_) | PlatformError::Internal(_)));
        if progress.chunks > 0 && !is_uncertain {
            self.delete_staged_chunks(progress.import).await?;
        }
        outcome
    }

    /// An import without items.
    pub(super) async fn begin_import(&self, auction: Auction) -> PlatformResult<ImportProgress> {
        let existing = count(self.store().item_counts(auction.uuid).await?.total);
        let import = self.ids().uuid_v7();
        Ok(ImportProgress { import, auction, existing, items: 0, chunks: 0, only: None, refused: None })
    }

    /// Inserts the items that were accepted.
    pub(super) async fn finish_import(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        progress: &mut ImportProgress,
        lots: &Lots,
        report: &ImportReport,
    ) -> PlatformResult<()> {
        let outcome = match (progress.refused.take(), progress.only.take()) {
            (Some(refused), _) => Err(refused),
            (None, Some(items)) => self.import_one_batch(caller, import, &items, report, None).await,
            (None, None) => self.begin_bulk_import(caller, import, progress, lots, report, None).await,
        };
        let is_uncertain = matches!(outcome, Err(PlatformError::Unavailable(_) | PlatformError::Internal(_)));
        if outcome.is_ok() {
            self.ends_changed().notify();
            self.run_bulk_change_to_end(import.auction).await?;
        }
        if progress.chunks > 0 && !is_uncertain {
            self.delete_staged_chunks(progress.import).await?;
        }
        outcome.map(drop)
    }

    async fn read_and_import(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        source: impl Read + Send + 'static,
        progress: &mut ImportProgress,
        answering: Option<IdempotentRequest<'_, ImportReport>>,
    ) -> PlatformResult<Outcome<ImportReport>> {
        let (file, (lots, mut report)) = self.read_in(caller, import, source, progress).await?;
        require_currency(&progress.auction, report.other_currency.take())?;
        let answering =
            answering.map(|given| IdempotentRequest { request_hash: combined_hash(given.request_hash, file), ..given });
        self.check_against_auction(import.auction, &lots, progress.items, &mut report).await?;
        report.items = u64::try_from(progress.items).unwrap_or_default();
        let refused = progress.refused.take();
        if report.error_count > 0 || refused.is_some() {
            // When a file is uploaded twice at the same time, the second upload is refused because of the first one.
            if let Some(answer) = self.replay(answering.as_ref()).await? {
                self.run_bulk_change_to_end(import.auction).await?;
                return Ok(Outcome::Replayed(answer));
            }
        }
        if report.error_count > 0 {
            report.items = 0;
            return Ok(Outcome::Fresh(report));
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        if import.mode == ImportMode::DryRun {
            self.keep_answer(answering.as_ref(), &report).await?;
            return Ok(Outcome::Fresh(report));
        }
        let outcome = match progress.only.take() {
            Some(items) => self.import_one_batch(caller, import, &items, &report, answering).await,
            None => self.begin_bulk_import(caller, import, progress, &lots, &report, answering).await,
        };
        let outcome = outcome.inspect(|_| self.ends_changed().notify())?;
        self.run_bulk_change_to_end(import.auction).await?;
        Ok(outcome)
    }

    /// The stored answer of the caller's idempotency key, for any file.
    async fn stored_answer(
        &self,
        answering: Option<&IdempotentRequest<'_, ImportReport>>,
    ) -> PlatformResult<Option<IdempotentAnswer>> {
        let Some(answering) = answering else { return Ok(None) };
        Ok(self.store().idempotent_answer(answering.caller, answering.key).await?)
    }

    /// Replays the stored answer if the file has the same hash.
    async fn replay_import(
        &self,
        import: CatalogueImport,
        source: impl Read + Send + 'static,
        answering: Option<&IdempotentRequest<'_, ImportReport>>,
        answer: IdempotentAnswer,
    ) -> PlatformResult<Outcome<ImportReport>> {
        let hashing = tokio::task::spawn_blocking(move || HashingReader::of_all(source));
        let hash = hashing
            .await
            .map_err(|error| PlatformError::Internal(format!("the catalogue could not be read: {error}")))?;
        let hash =
            hash.map_err(|error| PlatformError::invalid("", format!("the file can't be read to its end: {error}")))?;
        if answering.is_none_or(|answering| combined_hash(answering.request_hash, hash) != answer.request_hash) {
            return Err(PlatformError::IdempotencyMismatch);
        }
        self.run_bulk_change_to_end(import.auction).await?;
        Ok(Outcome::Replayed(answer))
    }

    /// Reads the file to its end and stages its items on the way.
    async fn read_in(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        source: impl Read + Send + 'static,
        progress: &mut ImportProgress,
    ) -> PlatformResult<(FileHash, (Lots, ImportReport))> {
        let (limits, items_max) = (self.config().catalogue.clone(), self.config().bulk_changes.items_max.max(1));
        let currency = CurrencyFormat::of(&progress.auction.currency);
        let wanted = RowTarget { status: import.status, setting: ItemContext::of(&progress.auction), currency };
        let (send, mut chunks) = mpsc::channel(CHUNKS_WAITING_MAX);
        // Reading a file or a request body can block.
        let reading = tokio::task::spawn_blocking(move || {
            let mut chunk = StagedBatch::default();
            let mut source = HashingReader::new(source);
            let mut named = Vec::new();
            let read = read::read_each(&mut source, &limits, wanted, |row| {
                if let Some((line, text)) = row.consignor {
                    let place = row.item.as_ref().map(|_| chunk.items.len());
                    named.push(NamedConsignor { place, line, text });
                }
                if let Some(item) = row.item {
                    chunk.add(item);
                }
                if chunk.is_full(items_max) || named.len() >= items_max {
                    // The caller may have been cancelled meanwhile.
                    let _ = send.blocking_send((std::mem::take(&mut chunk).items, std::mem::take(&mut named)));
                }
            });
            if !chunk.items.is_empty() || !named.is_empty() {
                let _ = send.blocking_send((chunk.items, named));
            }
            (source.finish(), read)
        });
        let mut faults = Vec::new();
        while let Some((mut items, named)) = chunks.recv().await {
            self.name_consignors(caller, &progress.auction, &mut items, named, &mut faults).await?;
            // A file with an unknown consignor is read to its end and imports nothing.
            if !items.is_empty() && faults.is_empty() {
                self.accept_batch(import.mode, progress, items).await?;
            }
        }
        let (hash, (lots, mut report)) = reading
            .await
            .map_err(|error| PlatformError::Internal(format!("the catalogue could not be read: {error}")))?;
        if !faults.is_empty() {
            // Errors that were not listed stay counted.
            let errors_max = self.config().catalogue.errors_max;
            report.error_count += faults.len() as u64;
            report.errors.extend(faults);
            report.errors.sort_by_key(|error| error.line);
            report.errors.truncate(errors_max);
        }
        Ok((hash, (lots, report)))
    }

    /// Sets the vendor of the items whose consignor is named by a text, and adds the texts that name none to `faults`.
    async fn name_consignors(
        &self,
        caller: &Caller,
        auction: &Auction,
        items: &mut [NewItem],
        named: Vec<NamedConsignor>,
        faults: &mut Vec<RowError>,
    ) -> PlatformResult<()> {
        let texts: BTreeSet<String> = named.iter().map(|named| named.text.clone()).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let found = self.consignors_called(caller, auction.customer, &texts).await?;
        for NamedConsignor { place, line, text } in named {
            match found.get(&text) {
                Some(Ok(vendor)) => {
                    if let Some(item) = place.and_then(|place| items.get_mut(place)) {
                        item.vendor = Some(*vendor);
                    }
                }
                Some(Err(fault)) => {
                    let column = Some(Column::Vendor.name().to_owned());
                    faults.push(RowError { line, column, message: fault.to_string() });
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Checks and stages a chunk. A rejection of the rules is reported after the whole file was read, because mistakes
    /// in the file are reported first.
    pub(super) async fn accept_batch(
        &self,
        mode: ImportMode,
        progress: &mut ImportProgress,
        items: Vec<NewItem>,
    ) -> PlatformResult<()> {
        let before = progress.items;
        progress.items += count(items.len() as u64);
        if progress.refused.is_some() {
            return Ok(());
        }
        progress.refused = self.check_batch(&progress.auction, (progress.existing, before), &items).err();
        if progress.refused.is_some() || mode == ImportMode::DryRun {
            return Ok(());
        }
        if before == 0 {
            progress.only = Some(items);
            return Ok(());
        }
        for chunk in progress.only.take().into_iter().chain([items]) {
            self.store().stage_chunk(progress.import, progress.chunks, chunk, self.now()).await?;
            progress.chunks += 1;
        }
        Ok(())
    }

    /// Imports a file of one chunk.
    async fn import_one_batch(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        items: &[NewItem],
        report: &ImportReport,
        answering: Option<IdempotentRequest<'_, ImportReport>>,
    ) -> PlatformResult<Outcome<ImportReport>> {
        self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, import.auction).await?;
            expect_version(import.expected_version, auction.version)?;
            require_usable(problems_in(ItemContext::of(&auction), items).collect(), None)?;
            let customer = auction.customer;
            let (draft, _) = self.draft_items(caller, auction, items, ItemOrigin::Catalogue).await?;
            let change = draft.finish(answering.as_ref(), report);
            Ok(Decision { customer, change, result: report.clone() })
        })
        .await
    }

    /// Begins the bulk change of the import. The auction gets a new version; from then on, the bulk change reserves the
    /// lot numbers and positions of the import.
    async fn begin_bulk_import(
        &self,
        caller: &Caller,
        import: CatalogueImport,
        progress: &ImportProgress,
        lots: &Lots,
        report: &ImportReport,
        answering: Option<IdempotentRequest<'_, ImportReport>>,
    ) -> PlatformResult<Outcome<ImportReport>> {
        self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, import.auction).await?;
            expect_version(import.expected_version, auction.version)?;
            self.require_no_bulk_change(&auction).await?;
            let existing = count(self.store().item_counts(auction.uuid).await?.total);
            if auction.version != progress.auction.version {
                self.check_again(&auction, existing, progress, lots).await?;
            }
            let now = self.time_of(&auction);
            let mut draft = self.build_change(&caller.actor, now);
            let auction = draft.auction(auction, &[]);
            let bulk_change = BulkChange {
                auction: auction.uuid,
                customer: auction.customer,
                operation: BulkOperation::Import { import: progress.import },
                actor: caller.actor.clone(),
                at: now,
                step: 0,
                through: existing - 1,
                until: existing + progress.items - 1,
            };
            draft.bulk_change(BulkChangeStep {
                auction: auction.uuid,
                expected_step: None,
                bulk_change: Some(bulk_change),
                entered: None,
            });
            let change = draft.finish(answering.as_ref(), report);
            Ok(Decision { customer: auction.customer, change, result: report.clone() })
        })
        .await
    }

    /// Checks the items again, because the auction changed while the file was read.
    async fn check_again(
        &self,
        auction: &Auction,
        existing: i64,
        progress: &ImportProgress,
        lots: &Lots,
    ) -> PlatformResult<()> {
        let mut report = ImportReport::default();
        self.check_against_auction(auction.uuid, lots, progress.items, &mut report).await?;
        if let Some(error) = report.errors.into_iter().next() {
            return Err(PlatformError::invalid("", format!("line {}: {}", error.line, error.message)));
        }
        let mut before = 0;
        for number in 0..progress.chunks {
            let chunk = self.store().staged_chunk(progress.import, number).await?.ok_or(PlatformError::Busy)?;
            self.check_batch(auction, (existing, before), &chunk)?;
            before += count(chunk.len() as u64);
        }
        Ok(())
    }

    /// Reports lot numbers that the auction has already, and too many items.
    async fn check_against_auction(
        &self,
        auction: Uuid,
        lots: &Lots,
        items: i64,
        report: &mut ImportReport,
    ) -> PlatformResult<()> {
        let errors_max = self.config().catalogue.errors_max;
        let mut taken: Vec<(u64, String)> = Vec::new();
        let mut existing: i64 = 0;
        let mut after = None;
        loop {
            let page: Vec<Item> = self.store().items(auction, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = page.last().map(|item| item.position) else { break };
            existing += count(page.len() as u64);
            let of_item = |item: Item| Some((*lots.get(item.lot_number.as_str())?, item.lot_number));
            taken.extend(page.into_iter().filter_map(of_item));
            after = Some(last);
        }
        taken.sort();
        for (line, lot) in taken {
            let message = format!("the auction already has a lot {lot}: change the number, or remove the row");
            report.error(RowError { line, column: Some("lot_number".into()), message }, errors_max);
        }
        let items_max = self.config().auction_items_max;
        if existing + items > count(items_max as u64) {
            let message = format!(
                "the auction has {existing} items and the file {items}: at most {items_max} are possible together"
            );
            report.error(RowError { line: 1, column: None, message }, errors_max);
        }
        report.errors.sort_by_key(|error| error.line);
        Ok(())
    }
}

/// Refuses a file whose amounts are in another currency than the auction: `found`, with its line.
pub(super) fn require_currency(auction: &Auction, found: Option<(u64, String)>) -> PlatformResult<()> {
    let Some((line, found)) = found else { return Ok(()) };
    let found = found.chars().take(CURRENCY_CHARS_MAX).collect();
    Err(PlatformError::OtherCurrency { line, found, wanted: auction.currency.clone() })
}

fn count(items: u64) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}
