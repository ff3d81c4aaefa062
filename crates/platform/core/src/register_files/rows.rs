//! Reads the rows of a register file: what each filled cell says about its record, and the mistakes. Pure except for the source.

use std::io::Read;

use contract::models::{AddressCountryCode, AddressModel, CurrencyCode};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::columns::{PartyColumn, known_column};
use super::{REGISTER_ROWS_MAX, RegisterReport};
use crate::amounts::CurrencyFormat;
use crate::catalogue::{
    ColumnMapping, FieldFault, ReadError, Record, RowError, fault_message, header_texts, house_records,
    unescape_formula,
};
use crate::config::CatalogueLimits;
use crate::port::{Money, PartyDetails};

/// A row of the file: its filled cells.
#[derive(Debug, Default)]
pub(super) struct PartyRow {
    pub(super) line: u64,
    pub(super) record: Option<Uuid>,
    cells: Vec<(PartyColumn, String)>,
    /// A cell has a mistake, which was reported.
    pub(super) is_faulty: bool,
}

/// A file that was read.
#[derive(Debug, Default)]
pub(super) struct RegisterFile {
    pub(super) rows: Vec<PartyRow>,
    headers: Vec<(PartyColumn, String)>,
    pub(super) report: RegisterReport,
    /// The file has no other headers than exports have, so that its amounts are written as exports write them.
    pub(super) is_exported: bool,
}

impl RegisterFile {
    /// Reports a mistake of a row, at the header of its column in the file.
    pub(super) fn error(&mut self, line: u64, column: Option<PartyColumn>, message: String, errors_max: usize) {
        let header = self.headers.iter().find(|(own, _)| Some(*own) == column).map(|(_, header)| header.clone());
        let column = header.or_else(|| column.map(|column| column.name().to_owned()));
        self.report.error(RowError { line, column, message }, errors_max);
    }
}

/// The proposed field of each header, in their order: that of the house's last file, or of a known header; none for a column to
/// ignore. Each field is proposed once.
pub(super) fn propose(headers: &[String], remembered: &ColumnMapping) -> Vec<Option<PartyColumn>> {
    let mut taken = Vec::new();
    let mut proposed = Vec::with_capacity(headers.len());
    for header in headers {
        let column = match remembered.field(header) {
            Some(field) => field.and_then(PartyColumn::mapped),
            None => known_column(header),
        };
        let column = column.filter(|column| !taken.contains(column));
        taken.extend(column);
        proposed.push(column);
    }
    proposed
}

/// Reads a file to its end, and reports every mistake.
pub(super) fn read_register_file(
    source: impl Read,
    limits: &CatalogueLimits,
    mapping: Option<&ColumnMapping>,
) -> RegisterFile {
    let mut file = RegisterFile::default();
    let read = house_records(source, limits).and_then(|mut records| {
        let Some(header) = records.next()? else {
            file.error(
                1,
                None,
                "the file is empty: write a header, and a row for each record".to_owned(),
                limits.errors_max,
            );
            return Ok(());
        };
        let columns = file.map(&header, mapping, limits);
        if file.report.error_count > 0 {
            return Ok(());
        }
        while let Some(record) = records.next()? {
            if !file.row(&record, &columns, limits) {
                break;
            }
        }
        Ok(())
    });
    if let Err(error) = read {
        let message = match error {
            ReadError::FileTooLong(bytes) => format!("the file is longer than {bytes} bytes: split it"),
            ReadError::Io(error) => format!("the file can't be read to its end: {error}"),
        };
        let line = file.report.rows + 1;
        file.error(line, None, message, limits.errors_max);
    }
    file
}

impl RegisterFile {
    fn map(
        &mut self,
        header: &Record,
        mapping: Option<&ColumnMapping>,
        limits: &CatalogueLimits,
    ) -> Vec<Option<PartyColumn>> {
        let headers = header_texts(header);
        self.is_exported = headers.iter().all(|header| PartyColumn::is_exported(header));
        let columns: Vec<Option<PartyColumn>> = match mapping {
            Some(mapping) => {
                headers.iter().map(|header| mapping.field(header).flatten().and_then(PartyColumn::mapped)).collect()
            }
            None => propose(&headers, &ColumnMapping::default()),
        };
        for (column, header) in columns.iter().zip(&headers) {
            match column {
                Some(column) if self.headers.iter().any(|(own, _)| own == column) => {
                    let message = format!("two columns are mapped to {}: map one of them", column.name());
                    self.error(1, None, message, limits.errors_max);
                }
                Some(column) => self.headers.push((*column, header.clone())),
                None => self.report.ignored_columns.push(header.clone()),
            }
        }
        if !columns.contains(&Some(PartyColumn::Name)) && !columns.contains(&Some(PartyColumn::Reference)) {
            let message = "no column is mapped to name or reference: map the column with the names".to_owned();
            self.error(1, None, message, limits.errors_max);
        }
        columns
    }

    /// Reads one row. False when the file has too many.
    fn row(&mut self, record: &Record, columns: &[Option<PartyColumn>], limits: &CatalogueLimits) -> bool {
        let errors_max = limits.errors_max;
        if record.fields.iter().all(|field| field.fault.is_none() && field.bytes.iter().all(u8::is_ascii_whitespace)) {
            return true;
        }
        if self.report.rows == REGISTER_ROWS_MAX {
            let message = format!("there are more than {REGISTER_ROWS_MAX} rows: split the file");
            self.error(record.line, None, message, errors_max);
            return false;
        }
        self.report.rows += 1;
        let mut row = PartyRow { line: record.line, ..PartyRow::default() };
        if record.field_count > columns.len() {
            let message = format!(
                "the row has {} cells and the header {}: put a text with the separator in quotes",
                record.field_count,
                columns.len()
            );
            self.error(record.line, None, message, errors_max);
            row.is_faulty = true;
        }
        for (field, column) in record.fields.iter().zip(columns) {
            let Some(column) = *column else { continue };
            let text = match (field.fault, std::str::from_utf8(&field.bytes)) {
                (Some(fault), _) if fault != FieldFault::TextAfterQuote => Err(fault_message(fault, limits)),
                (_, Ok(text)) => Ok(unescape_formula(text.trim())),
                (_, Err(_)) => Err("has a character that can't be read: save the file as UTF-8".to_owned()),
            };
            let uuid = |text: &str| {
                let uuid = Uuid::try_parse(text);
                uuid.map_err(|_| "is not the identifier of a record: leave it empty for a new one".to_owned())
            };
            let read = match (column, text) {
                (_, Ok("")) => Ok(()),
                (PartyColumn::Record, Ok(text)) => uuid(text).map(|uuid| row.record = Some(uuid)),
                (_, Ok(text)) => {
                    row.cells.push((column, text.to_owned()));
                    Ok(())
                }
                (_, Err(message)) => Err(message),
            };
            if let Err(message) = read {
                self.error(field.line, Some(column), message, errors_max);
                row.is_faulty = true;
            }
        }
        self.rows.push(row);
        true
    }
}

impl PartyRow {
    /// The text of a filled cell.
    pub(super) fn text(&self, column: PartyColumn) -> Option<&str> {
        self.cells.iter().find(|(own, _)| *own == column).map(|(_, text)| text.as_str())
    }

    /// Puts the filled cells into the details of a record. An empty cell changes nothing. Returns the mistakes.
    pub(super) fn apply(
        &self,
        details: &mut PartyDetails,
        usual: Option<CurrencyCode>,
        is_exported: bool,
    ) -> Vec<(PartyColumn, String)> {
        let mut faults = Vec::new();
        let set = |column: PartyColumn, to: &mut Option<String>| {
            if let Some(text) = self.text(column) {
                *to = Some(text.to_owned());
            }
        };
        set(PartyColumn::Reference, &mut details.reference);
        set(PartyColumn::Email, &mut details.email);
        set(PartyColumn::Phone, &mut details.phone);
        set(PartyColumn::VatNumber, &mut details.vat_number);
        set(PartyColumn::Note, &mut details.note);
        if let Some(name) = self.text(PartyColumn::Name) {
            name.clone_into(&mut details.name);
        }
        if let Some(role) = self.text(PartyColumn::Role) {
            match roles(role) {
                Some(roles) => (details.is_bidder, details.is_consignor) = roles,
                None => faults.push((
                    PartyColumn::Role,
                    format!("“{role}” is not a role: write bidder, consignor, or bidder and consignor"),
                )),
            }
        }
        faults.extend(self.set_addresses(&mut details.addresses));
        let money = [
            (PartyColumn::Deposit, PartyColumn::DepositCurrency, &mut details.deposit),
            (PartyColumn::Limit, PartyColumn::LimitCurrency, &mut details.limit),
        ];
        for (column, currency, of) in money {
            if let Err(fault) = self.set_money((column, currency), of, (usual, is_exported)) {
                faults.push(fault);
            }
        }
        faults
    }

    fn set_money(
        &self,
        (column, currency): (PartyColumn, PartyColumn),
        of: &mut Option<Money>,
        (usual, is_exported): (Option<CurrencyCode>, bool),
    ) -> Result<(), (PartyColumn, String)> {
        let Some(text) = self.text(column) else { return Ok(()) };
        let named = [currency, PartyColumn::Currency].into_iter().find_map(|own| Some((own, self.text(own)?)));
        let currency = match (named, of.as_ref().map(|before| before.currency).or(usual)) {
            (Some((own, code)), _) => code
                .to_uppercase()
                .parse::<CurrencyCode>()
                .map_err(|_| (own, format!("“{code}” is not a currency: write its three letters, such as GBP")))?,
            (None, Some(currency)) => currency,
            (None, None) => {
                let message =
                    "has no currency: map a column with its three letters, such as GBP, or name one for the whole file";
                return Err((column, message.to_owned()));
            }
        };
        let format = CurrencyFormat::of(currency.as_str());
        let read = if is_exported { format.read_exported(text) } else { format.read(text, None) };
        let amount = read.map_err(|error| (column, error.to_string()))?;
        *of = Some(Money { amount, currency });
        Ok(())
    }

    fn set_addresses(&self, addresses: &mut Vec<AddressModel>) -> Vec<(PartyColumn, String)> {
        let mut faults = self.set_first_address(addresses);
        if let Some(text) = self.text(PartyColumn::MoreAddresses) {
            match more_addresses(text) {
                Ok(more) => {
                    addresses.truncate(1);
                    addresses.extend(more);
                }
                Err(message) => faults.push((PartyColumn::MoreAddresses, message)),
            }
        }
        faults
    }

    fn set_first_address(&self, addresses: &mut Vec<AddressModel>) -> Vec<(PartyColumn, String)> {
        let mut faults = Vec::new();
        const LINES: [PartyColumn; 8] = [
            PartyColumn::AddressLine1,
            PartyColumn::AddressLine2,
            PartyColumn::AddressLine3,
            PartyColumn::AddressLine4,
            PartyColumn::City,
            PartyColumn::County,
            PartyColumn::Postcode,
            PartyColumn::Country,
        ];
        // A country alone is no address.
        if LINES[..7].iter().all(|column| self.text(*column).is_none()) && addresses.is_empty() {
            return faults;
        }
        let mut address = addresses.first().cloned().unwrap_or_else(|| AddressModel {
            id: None,
            address_line1: String::new(),
            address_line2: String::new(),
            address_line3: None,
            address_line4: None,
            county: None,
            city: None,
            postcode: String::new(),
            longitude: None,
            latitude: None,
            country_code: AddressCountryCode::default(),
        });
        for column in LINES {
            let Some(text) = self.text(column).map(str::to_owned) else { continue };
            match column {
                PartyColumn::AddressLine1 => address.address_line1 = text,
                PartyColumn::AddressLine2 => address.address_line2 = text,
                PartyColumn::AddressLine3 => address.address_line3 = Some(text),
                PartyColumn::AddressLine4 => address.address_line4 = Some(text),
                PartyColumn::City => address.city = Some(text),
                PartyColumn::County => address.county = Some(text),
                PartyColumn::Postcode => address.postcode = text,
                _ => match text.to_lowercase().parse() {
                    Ok(code) => address.country_code = code,
                    Err(_) => {
                        faults.push((column, format!("“{text}” is not a country code: write two letters, such as uk")));
                    }
                },
            }
        }
        for (column, line) in
            [(PartyColumn::AddressLine1, &address.address_line1), (PartyColumn::Postcode, &address.postcode)]
        {
            if line.is_empty() {
                faults.push((column, "is empty: an address has it".to_owned()));
            }
        }
        match addresses.first_mut() {
            Some(first) => *first = address,
            None => addresses.push(address),
        }
        faults
    }
}

/// Whether a text names bidders, and consignors.
fn roles(text: &str) -> Option<(bool, bool)> {
    let text = text.to_lowercase();
    let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "and");
    let mut roles = (false, false);
    for word in words {
        match word {
            "bidder" | "buyer" => roles.0 = true,
            "consignor" | "vendor" | "seller" => roles.1 = true,
            "both" => roles = (true, true),
            _ => return None,
        }
    }
    Some(roles).filter(|roles| roles.0 || roles.1)
}

/// Reads a cell with a JSON list of addresses.
fn more_addresses(text: &str) -> Result<Vec<AddressModel>, String> {
    let list: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|_| "is not a JSON list of addresses as an export writes it".to_owned())?;
    list.into_iter().map(|raw| AddressModel::from_json(raw.get()).map_err(|error| error.to_string())).collect()
}
