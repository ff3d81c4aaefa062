//! Merges a house's file into an auction by lot number: rows of new lots become items, rows of known lots change the
//! fields whose cells are filled. An absent column and an empty cell change nothing, so the same file can be merged
//! again.
//!
//! A file with a mistake changes nothing. A dry run reports the same and changes nothing. The changes of known lots are
//! committed 250 at a time before the new lots are imported; a merge that was interrupted is completed by merging the
//! file again.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use contract::ItemStatus;
use platform_rules::item::ItemEdit;
use platform_rules::{Auction, Hidden, Item, Rejection};
use uuid::Uuid;

use super::cells::{CellAt, DoubtfulCell, FaultyCell, MendedCell, MendedCells, ReadCell};
use super::house_rows::{HouseFile, HouseFormat, HouseRow, read_house_file};
use super::import::require_currency;
use super::propose_mapping::propose_mapping;
use super::read::Lots;
use super::report::RowError;
use super::vendors::NewConsignors;
use super::{CatalogueImport, ImportMode, ImportReport};
use crate::amounts::{CurrencyFormat, DecimalMark};
use crate::error::{PlatformError, PlatformResult};
use crate::port::ColumnMapping;
use crate::port::{ITEMS_READ_MAX, Page};
use crate::sales::items::edit::edit_item;
use crate::sales::new_item::{ItemContext, NewItem};
use crate::steps::decide::Decision;
use crate::{Caller, Platform, Scope};

/// Rows whose outcome a report lists.
const OUTCOMES_MAX: usize = 1_000;

/// The input of a merge.
#[derive(Debug, Clone)]
pub struct CatalogueMerge {
    /// The auction.
    pub auction: Uuid,
    /// Merge or dry run.
    pub mode: ImportMode,
    /// Which field each column is; columns that it does not name are ignored. None for the customer's last mapping and
    /// known headers.
    pub mapping: Option<ColumnMapping>,
    /// What separates decimals in the file's amounts; none where each amount has one reading.
    pub decimal_mark: Option<DecimalMark>,
    /// Texts that replace those of cells in the file.
    pub mended: MendedCells,
    /// The file is a sheet of an uploaded workbook.
    pub is_sheet: bool,
    /// What becomes of consignors that the register does not have.
    pub new_consignors: NewConsignors,
}

/// What a row does to its lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The lot is new.
    New,
    /// Fields of the lot change.
    Changed,
    /// The lot has these values already.
    Same,
}

/// A row without a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedRow {
    /// Physical line of the file, from 1.
    pub line: u64,
    /// Lot number.
    pub lot_number: String,
    /// What it does.
    pub outcome: MergeOutcome,
    /// JSON names of the fields that change.
    pub fields: Vec<&'static str>,
    /// Amounts and mended texts of the row, each with its reading.
    pub cells: Vec<ReadCell>,
}

/// The result of a merge. With any error, nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergeReport {
    /// Rows read after the header.
    pub rows: u64,
    /// New lots.
    pub new: u64,
    /// Lots that change.
    pub changed: u64,
    /// Lots that have these values already.
    pub same: u64,
    /// Headers of columns that were ignored.
    pub ignored_columns: Vec<String>,
    /// The first 1,000 rows without a mistake, in the file's order.
    pub outcomes: Vec<MergedRow>,
    /// The first 1,000 errors, by line, each with the header of its column.
    pub errors: Vec<RowError>,
    /// The cells of these errors that a person can mend.
    pub faulty_cells: Vec<FaultyCell>,
    /// The number of all errors.
    pub error_count: u64,
    /// The cells whose text was replaced.
    pub mended: Vec<MendedCell>,
    /// The consignors of the rows by UUID, each with its label. Only callers who may read the register get them.
    pub consignors: BTreeMap<Uuid, String>,
    /// The texts that name no consignor, in the order of the alphabet. Each is an error, or a record that the import adds.
    pub unknown_consignors: Vec<String>,
    /// The first 1,000 amounts that are likelier with the other decimal mark.
    pub doubtful: Vec<DoubtfulCell>,
}

impl MergeReport {
    pub(super) fn error(&mut self, error: RowError, errors_max: usize) {
        self.error_count += 1;
        if self.errors.len() < errors_max {
            self.errors.push(error);
        }
    }

    /// Adds an error with its cell and the cell's text.
    pub(super) fn cell_error(&mut self, error: RowError, cell: Option<(CellAt, String)>, errors_max: usize) {
        if let (Some((at, text)), Some(header)) = (cell, &error.column)
            && self.faulty_cells.len() < errors_max
        {
            self.faulty_cells.push(FaultyCell { line: error.line, header: header.clone(), at, text });
        }
        self.error(error, errors_max);
    }

    fn row(&mut self, row: &HouseRow, outcome: MergeOutcome, fields: Vec<&'static str>) {
        match outcome {
            MergeOutcome::New => self.new += 1,
            MergeOutcome::Changed => self.changed += 1,
            MergeOutcome::Same => self.same += 1,
        }
        if self.outcomes.len() < OUTCOMES_MAX {
            self.outcomes.push(MergedRow {
                line: row.line,
                lot_number: row.lot_number.clone(),
                outcome,
                fields,
                cells: row.cells.clone(),
            });
        }
    }
}

/// What a merge commits.
#[derive(Default)]
struct Decided {
    new: Vec<(u64, NewItem)>,
    changed: Vec<(u64, Uuid, ItemEdit)>,
}

impl Platform {
    /// Merges a house's file into an auction. A report with errors means that nothing was changed. The mapping is
    /// remembered for the customer's next file. Two files are merged at the same time, so `source` must not wait for a
    /// client.
    ///
    /// Errors: `not_found`, `items_following`, `auction_closed`, `other_currency`, `disk_full`, and those of
    /// [`platform_rules::item::decide`].
    pub async fn merge_catalogue(
        &self,
        caller: &Caller,
        merge: &CatalogueMerge,
        source: impl Read + Send + 'static,
    ) -> PlatformResult<MergeReport> {
        caller.require(Scope::AuctionsWrite)?;
        self.config().disk_reserve.check()?;
        let auction = self.visible_auction(caller, merge.auction).await?;
        auction.require_open()?;
        self.require_no_bulk_change(&auction).await?;
        let remembered = self.remembered_mapping(auction.customer).await?;
        let format = HouseFormat {
            mapping: merge.mapping.clone(),
            remembered: remembered.clone(),
            currency: CurrencyFormat::of(&auction.currency),
            decimal_mark: merge.decimal_mark,
            mended: merge.mended.clone(),
            is_sheet: merge.is_sheet,
            knows_consignors: caller.require(Scope::PartiesRead).is_ok(),
        };
        let limits = self.config().catalogue.clone();
        let Ok(_turn) = self.catalogue_turns().merges.acquire().await else { return Err(PlatformError::Busy) };
        let reading = tokio::task::spawn_blocking(move || read_house_file(source, &limits, &format));
        let mut file = reading
            .await
            .map_err(|error| PlatformError::Internal(format!("the catalogue could not be read: {error}")))?;
        require_currency(&auction, file.other_currency.take())?;
        let added = self.name_vendors(caller, &auction, merge.new_consignors, &mut file).await?;
        let decided = self.decide_rows(&auction, &mut file).await?;
        if file.report.error_count > 0 || merge.mode == ImportMode::DryRun {
            return Ok(file.report);
        }
        self.add_consignors(added).await?;
        self.commit_edits(caller, &auction, &decided.changed, &mut file).await?;
        self.import_new(caller, auction.uuid, decided.new, &mut file.report).await?;
        if let Some(mapping) = &merge.mapping {
            self.store().put_catalogue_mapping(auction.customer, remembered.with(mapping)).await?;
        }
        Ok(file.report)
    }

    /// Proposes a field for each header of a customer's file; none for a column to ignore.
    ///
    /// Errors: `not_found` (auction).
    pub async fn propose_mapping(
        &self,
        caller: &Caller,
        auction: Uuid,
        headers: &[String],
    ) -> PlatformResult<Vec<(String, Option<&'static str>)>> {
        caller.require(Scope::AuctionsWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        Ok(propose_mapping(headers, &self.remembered_mapping(auction.customer).await?))
    }

    async fn remembered_mapping(&self, customer: Uuid) -> PlatformResult<ColumnMapping> {
        Ok(self.store().catalogue_mapping(customer).await?.unwrap_or_default())
    }

    /// Compares each row with its lot. Mistakes are added to the report of the file.
    async fn decide_rows(&self, auction: &Auction, file: &mut HouseFile) -> PlatformResult<Decided> {
        let errors_max = self.config().catalogue.errors_max;
        // A lot that occurs twice is a mistake, and the other cells of each of its rows are checked too.
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, row) in file.rows.iter().enumerate() {
            places.entry(row.lot_number.clone()).or_default().push(place);
        }
        let mut known: HashMap<usize, FieldChanges> = HashMap::new();
        let merged = std::mem::take(&mut file.merged_consignors);
        let (mut after, mut existing) = (None, 0);
        loop {
            let page: Vec<Item> = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = page.last().map(|item| item.position) else { break };
            existing += page.len();
            for item in page {
                for place in places.get(&item.lot_number).into_iter().flatten() {
                    let Some(row) = file.rows.get_mut(*place) else { continue };
                    // A lot that names another record of the same consignor keeps it, also while it has bids.
                    if item.vendor.is_some_and(|own| row.edit.vendor == Some(merged.get(&own).copied())) {
                        row.edit.vendor = Some(item.vendor);
                    }
                    known.insert(*place, changed_fields(auction, &item, row.edit.clone()));
                }
            }
            after = Some(last);
        }
        let context = ItemContext::of(auction);
        let mut decided = Decided::default();
        let rows = std::mem::take(&mut file.rows);
        for (place, row) in rows.into_iter().enumerate() {
            let is_faulty = !row.faulty.is_empty();
            let errors = match known.remove(&place) {
                Some(Ok(_)) if is_faulty => continue,
                Some(Ok((_, fields))) if fields.is_empty() => {
                    file.report.row(&row, MergeOutcome::Same, fields);
                    continue;
                }
                Some(Ok((item, fields))) => {
                    file.report.row(&row, MergeOutcome::Changed, fields);
                    decided.changed.push((row.line, item, row.edit));
                    continue;
                }
                Some(Err(errors)) => errors,
                None => {
                    let new = new_item(&row);
                    let unfitting = context.unfitting(&new).map(|(field, message)| (field, message.to_owned()));
                    let problems = new.problems().into_iter().chain(unfitting);
                    let errors: Vec<_> = problems.map(|(field, message)| (Some(field.json()), message)).collect();
                    if errors.is_empty() && !is_faulty {
                        file.report.row(&row, MergeOutcome::New, Vec::new());
                        decided.new.push((row.line, new));
                        continue;
                    }
                    errors
                }
            };
            for (field, message) in errors {
                let column = field.and_then(|field| file.header_of(field));
                let place = column.as_ref().map(|(place, _)| *place);
                let is_unmapped = place.is_none() && row.lot_number.is_empty();
                if is_unmapped || place.is_some_and(|place| row.faulty.contains(&place)) {
                    continue;
                }
                let cell = place.and_then(|column| {
                    let at = CellAt { line: row.line, column };
                    Some((at, text_of(&row, column, field?)?))
                });
                let column = column.map(|(_, header)| header).or_else(|| field.map(str::to_owned));
                file.report.cell_error(RowError { line: row.line, column, message }, cell, errors_max);
            }
        }
        let items_max = self.config().auction_items_max;
        if existing + decided.new.len() > items_max {
            let message = format!(
                "the auction has {existing} items and the file {} new ones: at most {items_max} are possible together",
                decided.new.len()
            );
            file.report.error(RowError { line: 1, column: None, message }, errors_max);
        }
        file.report.errors.sort_by_key(|error| error.line);
        Ok(decided)
    }

    /// Commits the changes of known lots. A lot that was changed meanwhile in a way that forbids the edit is reported,
    /// and the others are changed.
    async fn commit_edits(
        &self,
        caller: &Caller,
        auction: &Auction,
        changed: &[(u64, Uuid, ItemEdit)],
        file: &mut HouseFile,
    ) -> PlatformResult<()> {
        let errors_max = self.config().catalogue.errors_max;
        for edits in changed.chunks(self.config().bulk_changes.items_max.max(1)) {
            let outcome = self
                .decide(None, || async {
                    let auction = self.visible_auction(caller, auction.uuid).await?;
                    self.require_no_bulk_change(&auction).await?;
                    let mut draft = self.build_change(&caller.actor, self.time_of(&auction));
                    let mut refused: Vec<RowError> = Vec::new();
                    for (line, item, edit) in edits {
                        let Some(item) = self.store().item(*item).await? else { continue };
                        match edit_item(&auction, &item, edit.clone()) {
                            Ok(changes) if changes.is_empty() => {}
                            Ok(changes) => drop(draft.item(&auction, item, &changes)),
                            Err(error) => {
                                refused.push(RowError { line: *line, column: None, message: error.to_string() });
                            }
                        }
                    }
                    let change = draft.finish::<Vec<RowError>>(None, &refused);
                    Ok(Decision { customer: auction.customer, change, result: refused })
                })
                .await?;
            for error in outcome.fresh()? {
                file.report.error(error, errors_max);
            }
        }
        if !changed.is_empty() {
            self.ends_changed().notify();
        }
        Ok(())
    }

    /// Imports the new lots, in the order of the file, as the import of a catalogue does.
    async fn import_new(
        &self,
        caller: &Caller,
        auction: Uuid,
        new: Vec<(u64, NewItem)>,
        report: &mut MergeReport,
    ) -> PlatformResult<()> {
        if new.is_empty() {
            return Ok(());
        }
        let import =
            CatalogueImport { auction, mode: ImportMode::Import, status: ItemStatus::Draft, expected_version: None };
        let auction = self.visible_auction(caller, auction).await?;
        let mut progress = self.begin_import(auction).await?;
        let lots: Lots = new.iter().map(|(line, item)| (item.lot_number.clone(), *line)).collect();
        let items: Vec<NewItem> = new.into_iter().map(|(_, item)| item).collect();
        for chunk in items.chunks(self.config().bulk_changes.items_max.max(1)) {
            self.accept_batch(import.mode, &mut progress, chunk.to_vec()).await?;
        }
        let imported = ImportReport { rows: report.rows, items: report.new, ..ImportReport::default() };
        self.finish_import(caller, import, &mut progress, &lots, &imported).await
    }
}

/// The text of a cell, for a person who mends it; none for a text that is not kept.
fn text_of(row: &HouseRow, column: usize, field: &str) -> Option<String> {
    let read = row.cells.iter().find(|cell| cell.column == column).map(|cell| cell.text.to_string());
    read.or_else(|| match field {
        "lotNumber" => Some(row.lot_number.clone()),
        "title" => Some(row.edit.title.clone().unwrap_or_default()),
        "vendor" => row.vendor.clone(),
        "category" => row.edit.category.clone().flatten(),
        "imageUrl" => row.edit.image_url.clone().flatten(),
        _ => None,
    })
}

/// The row as the input of a new lot.
fn new_item(row: &HouseRow) -> NewItem {
    let edit = row.edit.clone();
    NewItem {
        description: edit.description.unwrap_or_default(),
        category: edit.category.flatten(),
        image_url: edit.image_url.flatten(),
        attachments: edit.attachments.unwrap_or_default(),
        low_estimate: edit.low_estimate.flatten(),
        high_estimate: edit.high_estimate.flatten(),
        opening_bid: edit.opening_bid.unwrap_or(0),
        reserve: edit.reserve.flatten().map(Hidden::reveal),
        buy_now: edit.buy_now.flatten(),
        vendor: edit.vendor.flatten(),
        fixed_increment: edit.fixed_increment.flatten(),
        end_time: edit.end_time.flatten(),
        ..NewItem::new(row.lot_number.clone(), edit.title.unwrap_or_default())
    }
}

/// The item and the fields that a row changes, or mistakes, each with its field if one is at fault.
type FieldChanges = Result<(Uuid, Vec<&'static str>), Vec<(Option<&'static str>, String)>>;

/// The item with the JSON names of the fields that the edit changes, or all its mistakes by JSON name.
fn changed_fields(auction: &Auction, item: &Item, edit: ItemEdit) -> FieldChanges {
    let fields = edit.clone().without_unchanged(item).fields();
    let pointed = |pointer: &str| fields.iter().copied().find(|field| pointer.strip_prefix('/') == Some(field));
    match edit_item(auction, item, edit.clone()) {
        Ok(changes) if changes.is_empty() => Ok((item.uuid, Vec::new())),
        Ok(_) => Ok((item.uuid, fields)),
        Err(PlatformError::Invalid(problems)) => {
            // Wrong input hides the fields that are locked, so the rules are asked too.
            let mut errors =
                platform_rules::item::edit(auction, item, edit).err().map(locked_fields).unwrap_or_default();
            for problem in problems {
                let field = pointed(&problem.pointer);
                if field.is_none() || errors.iter().all(|(locked, _)| *locked != field) {
                    errors.push((field, problem.message));
                }
            }
            Err(errors)
        }
        Err(PlatformError::Rejected(Rejection::FieldInvalid { field, problem })) => {
            Err(vec![(Some(field), problem.to_owned())])
        }
        Err(PlatformError::Rejected(rejection @ Rejection::FieldsLocked { .. })) => Err(locked_fields(rejection)),
        Err(other) => Err(vec![(None, other.to_string())]),
    }
}

/// The fields that a rejection names as locked.
fn locked_fields(rejection: Rejection) -> Vec<(Option<&'static str>, String)> {
    let Rejection::FieldsLocked { fields, why } = rejection else { return Vec::new() };
    fields.into_iter().map(|field| (Some(field), format!("can't be changed now: {why}"))).collect()
}
