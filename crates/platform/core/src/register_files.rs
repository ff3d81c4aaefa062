//! Files of the register: a CSV file or a sheet of a workbook becomes records of a house, all or none, and a register becomes a
//! CSV file.
//!
//! A row names its record by the identifier that an export has, or by the reference. A row without either is found by its e-mail
//! address, or is new, as the caller chooses. An absent column and an empty cell change nothing, so that an export that is
//! imported again changes nothing.

mod columns;
mod export;
mod likely;
mod rows;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

use contract::models::CurrencyCode;
use uuid::Uuid;

use self::columns::PartyColumn;
pub use self::export::{register_header, register_row};
pub use self::likely::{LikelyOther, LikelyRow};
use self::rows::{PartyRow, RegisterFile, propose, read_register_file};
use crate::audit::party_entries;
use crate::bidders::PartyInput;
use crate::catalogue::{ColumnMapping, ImportMode, MergeOutcome, RowError};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Page, Party, PartyChange, PartyDetails, PartyFilter, PartyWrite, StoreError, Versioned};
use crate::{Caller, Platform, Scope};

/// Rows of one register file. They are written in one transaction.
pub const REGISTER_ROWS_MAX: u64 = 10_000;
/// Rows whose outcome a report lists.
const OUTCOMES_MAX: usize = 1_000;
/// Records that one read of the register loads.
const READ_MAX: usize = 1_000;

/// What a row without a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WithoutReference {
    /// The record with its e-mail address, and a new one if no record has it.
    #[default]
    ByEmail,
    /// A new record.
    New,
}

/// The input of an import.
#[derive(Debug, Clone)]
pub struct RegisterImport {
    /// The house.
    pub customer: Uuid,
    /// Import or dry run.
    pub mode: ImportMode,
    /// Which field each column is; columns that it does not name are ignored. None for known headers.
    pub mapping: Option<ColumnMapping>,
    /// What a row without a reference is.
    pub without_reference: WithoutReference,
    /// The currency of amounts that name none in the file. Without it, they are refused.
    pub currency: Option<CurrencyCode>,
    /// New records without a role in the file are bidders.
    pub is_bidder: bool,
    /// New records without a role in the file are consignors.
    pub is_consignor: bool,
}

/// A row without a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterRow {
    /// Physical line of the file, from 1.
    pub line: u64,
    /// The record. After a dry run, a new one does not exist.
    pub party: Uuid,
    /// The record's name, with its reference.
    pub label: String,
    /// What the row does.
    pub outcome: MergeOutcome,
}

/// The result of an import. With any error, nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegisterReport {
    /// Rows read after the header.
    pub rows: u64,
    /// New records.
    pub new: u64,
    /// Records that change.
    pub changed: u64,
    /// Records that have these values already.
    pub same: u64,
    /// New records that are likely about a person whom the register, or an earlier line, has already: the first 1,000 by line.
    pub likely: Vec<LikelyRow>,
    /// The number of all of them.
    pub likely_count: u64,
    /// Headers of columns that were ignored.
    pub ignored_columns: Vec<String>,
    /// The first 1,000 rows that add or change a record.
    pub outcomes: Vec<RegisterRow>,
    /// The first 1,000 errors, by line, each with the header of its column.
    pub errors: Vec<RowError>,
    /// The number of all errors.
    pub error_count: u64,
}

impl RegisterReport {
    fn error(&mut self, error: RowError, errors_max: usize) {
        self.error_count += 1;
        if self.errors.len() < errors_max {
            self.errors.push(error);
        }
    }
}

/// The records that the rows of a file can name.
#[derive(Default)]
struct KnownParties {
    by_record: HashMap<Uuid, Party>,
    by_reference: HashMap<String, Uuid>,
    by_email: HashMap<String, Vec<Uuid>>,
    /// References of records that were merged, with the record that stayed.
    former_references: HashMap<String, Uuid>,
    /// Records that were merged, with the record that stayed.
    former_records: HashMap<Uuid, Uuid>,
}

/// The names of the fields that a column of a register file can be mapped to.
pub fn register_fields() -> Vec<&'static str> {
    PartyColumn::fields()
}

/// A mapping of these headers of a register file. Errors: the first field that does not exist, or too many columns.
pub fn register_mapping(columns: impl IntoIterator<Item = (String, Option<String>)>) -> Result<ColumnMapping, String> {
    ColumnMapping::to_fields(columns, &PartyColumn::fields())
}

impl Platform {
    /// The proposed field of each header of a register file: that of the house's last file, or of a known header; none for a
    /// column to ignore.
    ///
    /// Errors: `not_found` (customer).
    pub async fn propose_register_mapping(
        &self,
        caller: &Caller,
        customer: Uuid,
        headers: &[String],
    ) -> PlatformResult<Vec<Option<&'static str>>> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, customer).await?;
        let remembered = self.store().register_mapping(customer).await?.unwrap_or_default();
        Ok(propose(headers, &remembered).into_iter().map(|column| column.map(PartyColumn::name)).collect())
    }

    /// Imports a file into the register of a house: all rows or none. The mapping is remembered for the house's next file.
    /// `source` must not wait for a client.
    ///
    /// Errors: `not_found` (customer), `taken` (reference), `busy` (a record was changed meanwhile), `disk_full`.
    pub async fn import_register(
        &self,
        caller: &Caller,
        import: &RegisterImport,
        source: impl Read + Send + 'static,
    ) -> PlatformResult<RegisterReport> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, import.customer).await?;
        self.config().disk_reserve.check()?;
        let (limits, mapping) = (self.config().catalogue.clone(), import.mapping.clone());
        let Ok(_turn) = self.catalogue_turns().merges.acquire().await else { return Err(PlatformError::Busy) };
        let reading = tokio::task::spawn_blocking(move || read_register_file(source, &limits, mapping.as_ref()));
        let mut file = reading
            .await
            .map_err(|error| PlatformError::Internal(format!("the register file could not be read: {error}")))?;
        let known = self.known_to_file(import, &file.rows).await?;
        let writes = self.decide_register(caller, import, &mut file, known)?;
        self.note_likely(import.customer, &writes, &mut file.report).await?;
        if file.report.error_count > 0 || import.mode == ImportMode::DryRun || writes.is_empty() {
            return Ok(file.report);
        }
        match self.store().put_parties(writes.into_iter().map(|(_, write)| write).collect()).await {
            Ok(()) => {
                if let Some(mapping) = &import.mapping {
                    let remembered = self.store().register_mapping(import.customer).await?.unwrap_or_default();
                    self.store().put_register_mapping(import.customer, remembered.with(mapping)).await?;
                }
                Ok(file.report)
            }
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the register once, and keeps what the rows can name.
    async fn known_to_file(&self, import: &RegisterImport, rows: &[PartyRow]) -> PlatformResult<KnownParties> {
        let wanted_of = |column| rows.iter().filter_map(move |row| row.text(column));
        let references: HashMap<&str, ()> = wanted_of(PartyColumn::Reference).map(|text| (text, ())).collect();
        let emails: HashMap<String, ()> = wanted_of(PartyColumn::Email).map(|text| (text.to_lowercase(), ())).collect();
        let records: HashMap<Uuid, ()> = rows.iter().filter_map(|row| Some((row.record?, ()))).collect();
        let (mut known, mut after) = (KnownParties::default(), None);
        loop {
            let page = Page { after, limit: READ_MAX };
            let parties = self.store().parties(import.customer, &PartyFilter::default(), page).await?;
            let Some(last) = parties.last() else { break };
            after = Some(Self::position_of(last));
            for party in parties {
                let reference = party.details.reference.clone().filter(|own| references.contains_key(own.as_str()));
                let email = party.details.email.as_deref().map(str::to_lowercase);
                let email = email.filter(|own| emails.contains_key(own));
                if reference.is_none() && email.is_none() && !records.contains_key(&party.uuid) {
                    continue;
                }
                known.by_reference.extend(reference.map(|reference| (reference, party.uuid)));
                if let Some(email) = email {
                    known.by_email.entry(email).or_default().push(party.uuid);
                }
                known.by_record.insert(party.uuid, party);
            }
        }
        let references = references.into_keys().filter(|text| !known.by_reference.contains_key(*text));
        let references: Vec<String> = references.map(str::to_owned).collect();
        let records: Vec<Uuid> = records.into_keys().filter(|record| !known.by_record.contains_key(record)).collect();
        self.know_former(import.customer, &references, &records, &mut known).await?;
        Ok(known)
    }

    /// Adds what names a record that was merged into another one.
    async fn know_former(
        &self,
        customer: Uuid,
        references: &[String],
        records: &[Uuid],
        known: &mut KnownParties,
    ) -> PlatformResult<()> {
        let mut former: Vec<Party> = Vec::new();
        for references in references.chunks(READ_MAX) {
            former.extend(self.store().parties_called(customer, &[], references).await?);
        }
        for records in records.chunks(READ_MAX) {
            former.extend(self.store().parties_of(records).await?);
        }
        former.retain(|party| party.customer == customer && party.merged.is_some());
        let kept: BTreeSet<Uuid> = former.iter().map(Party::record).collect();
        let kept: Vec<Uuid> = kept.into_iter().filter(|record| !known.by_record.contains_key(record)).collect();
        for records in kept.chunks(READ_MAX) {
            let found = self.store().parties_of(records).await?.into_iter();
            known.by_record.extend(found.filter(|party| party.erasure.is_none()).map(|party| (party.uuid, party)));
        }
        for party in former {
            let record = party.record();
            known.former_records.insert(party.uuid, record);
            known.former_references.extend(party.details.reference.map(|reference| (reference, record)));
        }
        Ok(())
    }

    /// Compares each row with its record. Mistakes are added to the report.
    fn decide_register(
        &self,
        caller: &Caller,
        import: &RegisterImport,
        file: &mut RegisterFile,
        known: KnownParties,
    ) -> PlatformResult<Vec<(u64, PartyWrite)>> {
        let errors_max = self.config().catalogue.errors_max;
        let mut writes = Vec::new();
        // The lines on which a record, and a reference, occurred.
        let (mut records, mut references): (HashMap<Uuid, u64>, BTreeMap<String, u64>) = Default::default();
        for row in std::mem::take(&mut file.rows) {
            let found = match find(import, &row, &known) {
                Ok(found) => found,
                Err((column, message)) => {
                    file.error(row.line, Some(column), message, errors_max);
                    continue;
                }
            };
            let mut faults = Vec::new();
            if let Some(first) = found.and_then(|party| records.insert(party.uuid, row.line)) {
                faults.push((None, format!("line {first} is about the same record: remove one row")));
            }
            let twice = row.text(PartyColumn::Reference).and_then(|text| references.insert(text.to_owned(), row.line));
            if let Some(first) = twice.filter(|_| faults.is_empty()) {
                faults.push((Some(PartyColumn::Reference), format!("is on line {first} already: write another one")));
            }
            let mut details = match found {
                Some(party) => party.details.clone(),
                None => PartyDetails {
                    is_bidder: import.is_bidder,
                    is_consignor: import.is_consignor,
                    ..PartyDetails::default()
                },
            };
            let of_cells = row.apply(&mut details, import.currency, file.is_exported);
            faults.extend(of_cells.into_iter().map(|(column, message)| (Some(column), message)));
            // A reference of a record that was merged names the one that stayed, which keeps its own.
            let is_former = |text: &str| known.former_references.contains_key(text);
            if let Some(party) = found.filter(|_| row.text(PartyColumn::Reference).is_some_and(is_former)) {
                details.reference.clone_from(&party.details.reference);
            }
            let document = found.and_then(|party| party.identity.as_ref()).map(|seen| seen.document.clone());
            let input = PartyInput { details, document };
            // A cell that can't be read is not reported as empty, too.
            for problem in input.problems() {
                let column = PartyColumn::of_pointer(&problem.pointer);
                if faults.iter().all(|(faulty, _)| faulty.is_none() || *faulty != column) && !row.is_faulty {
                    faults.push((column, problem.message));
                }
            }
            if !faults.is_empty() || row.is_faulty {
                for (column, message) in faults {
                    file.error(row.line, column, message, errors_max);
                }
                continue;
            }
            let outcome = match found {
                Some(party) if party.details == input.details => MergeOutcome::Same,
                Some(_) => MergeOutcome::Changed,
                None => MergeOutcome::New,
            };
            let write = match found {
                _ if outcome == MergeOutcome::Same => None,
                Some(party) => Some(self.edited_party(caller, party, input)?),
                None => Some(self.new_party(caller, import.customer, &input)?),
            };
            match outcome {
                MergeOutcome::New => file.report.new += 1,
                MergeOutcome::Changed => file.report.changed += 1,
                MergeOutcome::Same => file.report.same += 1,
            }
            let Some(write) = write else { continue };
            if file.report.outcomes.len() < OUTCOMES_MAX {
                let (party, label) = (write.party.state.uuid, write.party.state.label());
                file.report.outcomes.push(RegisterRow { line: row.line, party, label, outcome });
            }
            writes.push((row.line, write));
        }
        file.report.errors.sort_by_key(|error| error.line);
        Ok(writes)
    }

    /// The record with the details of a row, to be written.
    fn edited_party(&self, caller: &Caller, party: &Party, input: PartyInput) -> PlatformResult<PartyWrite> {
        let mut state = party.clone();
        let change = PartyChange::Edited { details: Box::new(input.details), identity: state.identity.clone() };
        state.apply(&change, &caller.actor, self.now());
        let log = party_entries(&mut state, &[change], self.random().as_ref())?;
        Ok(PartyWrite { party: Versioned { expected_version: party.version, state }, log })
    }
}

/// The record that a row is about; none for a new one.
fn find<'a>(
    import: &RegisterImport,
    row: &PartyRow,
    known: &'a KnownParties,
) -> Result<Option<&'a Party>, (PartyColumn, String)> {
    let of = |uuid: &Uuid| known.by_record.get(uuid);
    let referred = row.text(PartyColumn::Reference);
    let referred = referred.and_then(|text| known.by_reference.get(text).or_else(|| known.former_references.get(text)));
    if let Some(uuid) = row.record {
        let uuid = known.former_records.get(&uuid).copied().unwrap_or(uuid);
        let party = of(&uuid).ok_or_else(|| {
            (PartyColumn::Record, "is no record of this house: leave it empty for a new one".to_owned())
        })?;
        return match referred {
            Some(other) if *other != uuid => {
                Err((PartyColumn::Reference, "belongs to another record: write another one".to_owned()))
            }
            _ => Ok(Some(party)),
        };
    }
    if row.text(PartyColumn::Reference).is_some() || import.without_reference == WithoutReference::New {
        return Ok(referred.and_then(of));
    }
    let Some(email) = row.text(PartyColumn::Email) else { return Ok(None) };
    match known.by_email.get(&email.to_lowercase()).map(Vec::as_slice) {
        None | Some([]) => Ok(None),
        Some([uuid]) => Ok(of(uuid)),
        Some(several) => Err((
            PartyColumn::Email,
            format!("{} records have this e-mail address: write the reference of one", several.len()),
        )),
    }
}
