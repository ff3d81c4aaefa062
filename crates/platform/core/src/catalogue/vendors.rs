//! The consignors that the rows of a house's file name: found in the register, or added to it if a person wants that.

use std::collections::{BTreeMap, BTreeSet};

use platform_rules::Auction;
use uuid::Uuid;

use super::cells::{CellAt, CellValue, ReadCell};
use super::house_rows::HouseFile;
use super::report::RowError;
use crate::bidders::{ConsignorFault, PartyInput};
use crate::error::PlatformResult;
use crate::port::{PartyDetails, PartyWrite, search_form};
use crate::{Caller, Platform, Scope};

/// Consignors whose merged records are read at once.
const MERGED_READ_MAX: usize = 250;

/// What becomes of consignors that the register of the house does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewConsignors {
    /// Each is an error of its row.
    #[default]
    Refused,
    /// The import adds them to the register. The text is the name.
    ByName,
    /// The import adds them to the register. The text is the reference, and the name until a person enters one.
    ByReference,
}

impl NewConsignors {
    /// The record that a text becomes.
    fn input(self, text: &str) -> PartyInput {
        let (name, is_consignor) = (text.to_owned(), true);
        let reference = (self == Self::ByReference).then(|| text.to_owned());
        PartyInput {
            details: PartyDetails { name, is_consignor, reference, ..PartyDetails::default() },
            document: None,
        }
    }

    /// Texts with the same key are one record.
    fn key(self, text: &str) -> String {
        if self == Self::ByReference { text.to_owned() } else { search_form(text) }
    }
}

impl Platform {
    /// Sets the vendor of each row to the record that its text names, and reports the texts that name none. Returns the
    /// records to add.
    pub(super) async fn name_vendors(
        &self,
        caller: &Caller,
        auction: &Auction,
        new: NewConsignors,
        file: &mut HouseFile,
    ) -> PlatformResult<Vec<PartyWrite>> {
        let texts: BTreeSet<String> = file.rows.iter().filter_map(|row| row.vendor.clone()).collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        if new != NewConsignors::Refused {
            caller.require(Scope::PartiesWrite)?;
        }
        let mut found = self.consignors_called(caller, auction.customer, &texts).await?;
        let is_unknown = |found: &Result<Uuid, ConsignorFault>| matches!(found, Err(ConsignorFault::Unknown(_)));
        file.report.unknown_consignors =
            found.iter().filter(|(_, found)| is_unknown(found)).map(|(text, _)| text.clone()).collect();
        let (mut added, mut problems) = (BTreeMap::new(), BTreeMap::new());
        if new != NewConsignors::Refused {
            for text in &file.report.unknown_consignors {
                let input = new.input(text);
                if let Some(problem) = input.problems().into_iter().next() {
                    problems.insert(text.clone(), problem.message);
                    continue;
                }
                let entry = match added.entry(new.key(text)) {
                    std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                    std::collections::btree_map::Entry::Vacant(free) => {
                        free.insert(self.new_party(caller, auction.customer, &input)?)
                    }
                };
                found.insert(text.clone(), Ok(entry.party.state.uuid));
            }
        }
        let known: BTreeSet<Uuid> = found.values().filter_map(|found| found.as_ref().ok().copied()).collect();
        let mut labels = self.party_labels(caller, auction.customer, &known).await?;
        labels.extend(added.values().map(|entry| (entry.party.state.uuid, entry.party.state.label())));
        for consignors in known.iter().copied().collect::<Vec<_>>().chunks(MERGED_READ_MAX) {
            let merged = self.store().merged_records(consignors).await?;
            file.merged_consignors.extend(merged.iter().map(|record| (record.uuid, record.record())));
        }
        let errors_max = self.config().catalogue.errors_max;
        let column = file.header_of("vendor");
        for row in &mut file.rows {
            let Some(text) = row.vendor.clone() else { continue };
            let place = column.as_ref().map(|(place, _)| *place);
            match found.get(&text) {
                Some(Ok(uuid)) => {
                    row.edit.vendor = Some(Some(*uuid));
                    if let (Some(column), true) = (place, labels.contains_key(uuid)) {
                        row.cells.push(ReadCell { column, text: text.into(), value: CellValue::Consignor(*uuid) });
                    }
                }
                Some(Err(fault)) => {
                    let message = problems.get(&text).cloned().unwrap_or_else(|| fault.to_string());
                    let header = column.as_ref().map(|(_, header)| header.clone());
                    row.faulty.extend(place);
                    let at = place.map(|column| CellAt { line: row.line, column });
                    let error = RowError { line: row.line, column: header, message };
                    file.report.cell_error(error, at.map(|at| (at, text)), errors_max);
                }
                None => {}
            }
        }
        file.report.consignors = labels;
        Ok(added.into_values().collect())
    }

    /// Adds the records of new consignors, all or none. If the import fails afterwards, they are found the next time.
    pub(super) async fn add_consignors(&self, added: Vec<PartyWrite>) -> PlatformResult<()> {
        if added.is_empty() { Ok(()) } else { Ok(self.store().put_parties(added).await?) }
    }
}
