//! Reads the rows of a house's file through a mapping: what each cell says about its lot, and the mistake in each cell.
//! Pure except for the source.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use platform_rules::Hidden;
use platform_rules::item::ItemEdit;
use uuid::Uuid;

use super::amount_cells::AmountReader;
use super::cells::{CellAt, CellValue, DoubtfulCell, MendedCells, ReadCell, mendable};
use super::columns::Column;
use super::known_headers::known_column;
use super::merge::MergeReport;
use super::propose_mapping::propose_mapping;
use super::records::{Field, FieldFault, ReadError, Record, RecordLimits, Records};
use super::report::RowError;
use super::transcode::Transcoded;
use super::{formula, write};
use crate::amounts::{CurrencyFormat, DecimalMark};
use crate::config::CatalogueLimits;
use crate::port::ColumnMapping;

/// Columns of a house's file, ignored ones included.
const FILE_COLUMNS_MAX: usize = 500;
const BUFFER_BYTES: usize = 64 << 10;
/// Characters of a header in a report.
const HEADER_CHARS_MAX: usize = 60;

/// One row of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct HouseRow {
    pub(super) line: u64,
    pub(super) lot_number: String,
    /// What names the consignor: a reference, a name or a UUID. The merge finds it in the register.
    pub(super) vendor: Option<String>,
    /// The fields whose cells are filled.
    pub(super) edit: ItemEdit,
    /// The cells that are more than their text.
    pub(super) cells: Vec<ReadCell>,
    /// Places of the columns whose cells have a mistake. Their fields are left out of the edit.
    pub(super) faulty: Vec<usize>,
}

/// How a file is read.
#[derive(Debug, Clone)]
pub(super) struct HouseFormat {
    /// None: the remembered and the known headers are used.
    pub(super) mapping: Option<ColumnMapping>,
    pub(super) remembered: ColumnMapping,
    /// The currency of the auction.
    pub(super) currency: CurrencyFormat,
    /// What separates decimals, if a person has said so.
    pub(super) decimal_mark: Option<DecimalMark>,
    /// Texts that replace those of cells.
    pub(super) mended: MendedCells,
    /// The file is a sheet of a workbook, whose cells hold numbers or texts.
    pub(super) is_sheet: bool,
    /// The caller may read the register, so that columns of consignors are proposed.
    pub(super) knows_consignors: bool,
}

/// A file that was read: its rows, its columns, and the report with the mistakes so far.
#[derive(Debug, Default)]
pub(super) struct HouseFile {
    pub(super) rows: Vec<HouseRow>,
    /// Each mapped column with its place and its header.
    pub(super) headers: Vec<(Column, usize, String)>,
    pub(super) report: MergeReport,
    /// The first currency that is not that of the auction, with its line.
    pub(super) other_currency: Option<(u64, String)>,
    /// Records that were merged into consignors of the rows, with the record that stayed.
    pub(super) merged_consignors: HashMap<Uuid, Uuid>,
}

impl HouseFile {
    /// The header in the file of a JSON field.
    pub(super) fn header_of(&self, field: &str) -> Option<(usize, String)> {
        let is_field = |column: &Column| {
            let json = column.json();
            json == field || (*column == Column::Estimate && matches!(field, "lowEstimate" | "highEstimate"))
        };
        let found = self.headers.iter().find(|(column, ..)| is_field(column));
        found.map(|(_, place, header)| (*place, header.clone()))
    }
}

/// The records of a file in any encoding and with any separator.
pub(crate) fn house_records<R: Read>(
    source: R,
    limits: &CatalogueLimits,
) -> Result<Records<BufReader<Transcoded<R>>>, ReadError> {
    let record_limits = RecordLimits {
        field_bytes_max: limits.field_bytes_max,
        record_bytes_max: limits.row_bytes_max,
        fields_max: FILE_COLUMNS_MAX,
        // A file in another encoding has more bytes in UTF-8.
        file_bytes_max: limits.file_bytes_max.saturating_mul(3),
    };
    let source = BufReader::with_capacity(BUFFER_BYTES, Transcoded::new(source, limits.file_bytes_max));
    Records::new(source, record_limits).sniff_separator()
}

/// Reads a file to its end, and reports every mistake. A row with a mistake in a cell stays, so that its other cells are
/// compared with the lot too. A row with a wrong number of cells is left out.
pub(super) fn read_house_file(source: impl Read, limits: &CatalogueLimits, format: &HouseFormat) -> HouseFile {
    let mut file = HouseFile::default();
    let read =
        house_records(source, limits).and_then(|mut records| read_records(&mut records, limits, format, &mut file));
    if let Err(error) = read {
        let message = match error {
            ReadError::FileTooLong(bytes) => format!("the file is longer than {bytes} bytes: split it"),
            ReadError::Io(error) => format!("the file can't be read to its end: {error}"),
        };
        file.report.error(RowError { line: file.report.rows + 1, column: None, message }, limits.errors_max);
    }
    file
}

fn read_records<R: std::io::BufRead>(
    records: &mut Records<R>,
    limits: &CatalogueLimits,
    format: &HouseFormat,
    file: &mut HouseFile,
) -> Result<(), ReadError> {
    let Some(header) = records.next()? else {
        let message = "the file is empty: write a header, and a row for each lot".to_owned();
        file.report.error(RowError { line: 1, column: None, message }, limits.errors_max);
        return Ok(());
    };
    let headers = header_texts(&header);
    let (columns, faults) = mapped_columns(&headers, format);
    for message in faults {
        file.report.error(RowError { line: header.line, column: None, message }, limits.errors_max);
    }
    for (place, (column, header)) in columns.iter().zip(&headers).enumerate() {
        match column {
            Some(column) => file.headers.push((*column, place, header.clone())),
            None => file.report.ignored_columns.push(header.clone()),
        }
    }
    let amounts = AmountReader::new(&headers, format);
    // A column that is named as a currency is checked, even if the mapping leaves it out.
    let is_currency = |(column, header): (&Option<Column>, &String)| {
        *column == Some(Column::Currency) || known_column(header) == Some(Column::Currency)
    };
    let currencies: Vec<bool> = columns.iter().zip(&headers).map(is_currency).collect();
    let mut lots: HashMap<String, u64> = HashMap::new();
    while let Some(mut record) = records.next()? {
        let mut mended = format.mended.apply(&mut record, columns.len());
        if record.fields.iter().all(|field| field.fault.is_none() && field.bytes.iter().all(u8::is_ascii_whitespace)) {
            continue;
        }
        if file.report.rows == limits.rows_max {
            let message = format!("there are more than {} rows: split the file", limits.rows_max);
            file.report.error(RowError { line: record.line, column: None, message }, limits.errors_max);
            return Ok(());
        }
        file.report.rows += 1;
        let mut named = record.fields.iter().zip(&currencies).filter(|(_, is_currency)| **is_currency);
        file.other_currency = named.find_map(|(cell, _)| other_currency(cell, &format.currency));
        if file.other_currency.is_some() {
            return Ok(());
        }
        let (mut row, errors) = house_row(&record, (&columns, &headers), limits, &amounts);
        let is_misaligned = errors.iter().any(|(error, _)| error.column.is_none());
        errors.into_iter().for_each(|(error, cell)| file.report.cell_error(error, cell, limits.errors_max));
        file.report.doubtful.extend(doubtful_cells(&row, &record, &columns, &amounts));
        file.report.doubtful.truncate(limits.errors_max);
        for cell in &mut mended {
            let read = row.cells.iter().find(|read| read.column == cell.at.column);
            cell.value = read.map(|read| read.value);
        }
        if let Some(first) = lots.get(&row.lot_number) {
            let message = format!("lot {} is on line {first} already: remove one row", row.lot_number);
            let column = file.header_of("lotNumber");
            row.faulty.extend(column.as_ref().map(|(column, _)| *column));
            let at = column.as_ref().map(|(column, _)| CellAt { line: record.line, column: *column });
            let error = RowError { line: row.line, column: column.map(|(_, header)| header), message };
            file.report.cell_error(error, at.map(|at| (at, row.lot_number.clone())), limits.errors_max);
        } else if !row.lot_number.is_empty() {
            lots.insert(row.lot_number.clone(), row.line);
        }
        if !is_misaligned {
            file.rows.push(row);
        }
        file.report.mended.append(&mut mended);
    }
    Ok(())
}

pub(crate) fn header_texts(header: &Record) -> Vec<String> {
    let text = |field: &Field| {
        let text = String::from_utf8_lossy(&field.bytes);
        text.trim_start_matches('\u{feff}').trim().chars().take(HEADER_CHARS_MAX).collect()
    };
    header.fields.iter().map(text).collect()
}

/// The column of each header, none for one to ignore, and the faults: a field that is mapped twice, and a missing lot
/// number.
fn mapped_columns(headers: &[String], format: &HouseFormat) -> (Vec<Option<Column>>, Vec<String>) {
    let columns: Vec<Option<Column>> = match &format.mapping {
        Some(mapping) => headers.iter().map(|header| mapping.column(header).flatten()).collect(),
        None => {
            let proposed = propose_mapping(headers, &format.remembered);
            let is_readable = |column: &Column, header: &str| {
                *column != Column::Vendor || format.knows_consignors || Column::is_name(header)
            };
            let column = |(header, field): (String, Option<&str>)| {
                field.and_then(Column::mapped).filter(|column| is_readable(column, &header))
            };
            proposed.into_iter().map(column).collect()
        }
    };
    let mut faults = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        let Some(column) = column.filter(|column| *column != Column::Description) else { continue };
        let occurs_before = columns.iter().take(place).filter(|other| **other == Some(column)).count();
        if occurs_before == 1 {
            faults.push(format!("two columns are mapped to {}: map one of them", column.name()));
        }
    }
    if !columns.contains(&Some(Column::LotNumber)) {
        faults.push("no column is mapped to lot_number: map the column with the lot numbers".to_owned());
    }
    (columns, faults)
}

/// Lines that become the description, in the order of the columns of a catalogue.
const DESCRIBING: [Column; 6] =
    [Column::Description, Column::Artist, Column::Date, Column::Medium, Column::Dimensions, Column::Credit];

/// The currency of a cell with its line, if it is not that of the auction.
fn other_currency(cell: &Field, wanted: &CurrencyFormat) -> Option<(u64, String)> {
    let found = String::from_utf8_lossy(&cell.bytes).trim().to_owned();
    (!found.is_empty() && !wanted.is_named(&found)).then_some((cell.line, found))
}

/// A mistake, with its cell and the cell's text if a person can mend it.
type CellError = (RowError, Option<(CellAt, String)>);

fn house_row(
    record: &Record,
    (columns, headers): (&[Option<Column>], &[String]),
    limits: &CatalogueLimits,
    amounts: &AmountReader<'_>,
) -> (HouseRow, Vec<CellError>) {
    let mut row = HouseRow { line: record.line, ..HouseRow::default() };
    let (mut errors, mut faulty) = (Vec::new(), Vec::new());
    let mut described: Vec<(usize, &str)> = Vec::new();
    for (place, (field, column)) in record.fields.iter().zip(columns).enumerate() {
        let Some(column) = column else { continue };
        let at = CellAt { line: record.line, column: place };
        let mut error = |message: String| {
            faulty.push(place);
            let cell = mendable(field).map(|text| (at, text));
            errors.push((RowError { line: field.line, column: headers.get(place).cloned(), message }, cell));
        };
        if let Some(fault) = field.fault.filter(|fault| *fault != FieldFault::TextAfterQuote) {
            error(super::read::fault_message(fault, limits));
            continue;
        }
        let Ok(text) = std::str::from_utf8(&field.bytes) else {
            error("has a character that can't be read: save the file as UTF-8".to_owned());
            continue;
        };
        let text = formula::unescape_formula(text.trim());
        if text.is_empty() {
            continue;
        }
        if let Some(order) = DESCRIBING.iter().position(|describing| describing == column) {
            described.push((order, text));
        } else {
            match set(&mut row, *column, text, &|text| amounts.read(text, field.is_quoted)) {
                Ok(Some(value)) => row.cells.push(ReadCell { column: place, text: text.into(), value }),
                Ok(None) => {}
                Err(message) => error(message),
            }
        }
    }
    if record.field_count > columns.len() {
        let message = format!(
            "the row has {} cells and the header {}: put a text with the separator in quotes",
            record.field_count,
            columns.len()
        );
        errors.push((RowError { line: record.line, column: None, message }, None));
    }
    described.sort_by_key(|(order, _)| *order);
    let lines: Vec<&str> = described.into_iter().map(|(_, line)| line).collect();
    row.edit.description = Some(lines.join("\n")).filter(|text| !text.is_empty());
    let lot_number = columns.iter().position(|column| *column == Some(Column::LotNumber));
    if let Some(place) = lot_number.filter(|place| row.lot_number.is_empty() && !faulty.contains(place)) {
        let cell = (CellAt { line: record.line, column: place }, String::new());
        let message = "is empty: write the lot number".to_owned();
        let column = headers.get(place).cloned();
        errors.push((RowError { line: record.line, column, message }, Some(cell)));
        faulty.push(place);
    }
    row.faulty = faulty;
    (row, errors)
}

/// The amounts of a row that the other decimal mark reads in a likelier way.
fn doubtful_cells(
    row: &HouseRow,
    record: &Record,
    columns: &[Option<Column>],
    amounts: &AmountReader<'_>,
) -> Vec<DoubtfulCell> {
    let mut doubtful = Vec::new();
    for cell in &row.cells {
        let (Some(Some(column)), Some(field)) = (columns.get(cell.column), record.fields.get(cell.column)) else {
            continue;
        };
        let mut other = HouseRow::default();
        let read = set(&mut other, *column, &cell.text, &|text| amounts.read_with_other_mark(text, field.is_quoted));
        let Ok(Some(other)) = read else { continue };
        let rest = row.cells.iter().filter(|rest| rest.column != cell.column);
        let rest: Vec<i64> = rest.flat_map(|rest| rest.value.amounts()).collect();
        if amounts.is_likelier(other, cell.value, &rest) {
            let at = CellAt { line: record.line, column: cell.column };
            doubtful.push(DoubtfulCell { at, text: cell.text.to_string(), value: cell.value, other });
        }
    }
    doubtful
}

/// Reads one filled cell. Returns what it means, if that is more than its text.
fn set(
    row: &mut HouseRow,
    column: Column,
    text: &str,
    amount: &dyn Fn(&str) -> Result<i64, String>,
) -> Result<Option<CellValue>, String> {
    let amount = |text: &str| amount(text).map(|minor| (minor, Some(CellValue::Amount(minor))));
    let mut value = None;
    let edit = &mut row.edit;
    match column {
        Column::LotNumber => text.clone_into(&mut row.lot_number),
        Column::Title => edit.title = Some(text.to_owned()),
        Column::Category => edit.category = Some(Some(text.to_owned())),
        Column::ImageUrl => edit.image_url = Some(Some(text.to_owned())),
        Column::LowEstimate => {
            let (minor, read) = amount(text)?;
            (edit.low_estimate, value) = (Some(Some(minor)), read);
        }
        Column::HighEstimate => {
            let (minor, read) = amount(text)?;
            (edit.high_estimate, value) = (Some(Some(minor)), read);
        }
        Column::Estimate => {
            let (low, high) = text
                .split_once(['-', '–', '—'])
                .ok_or_else(|| format!("“{text}” is not an estimate. Write it like 100-150."))?;
            let (low, high) = (amount(low.trim())?.0, amount(high.trim())?.0);
            (edit.low_estimate, edit.high_estimate) = (Some(Some(low)), Some(Some(high)));
            value = Some(CellValue::Estimate(low, high));
        }
        Column::OpeningBid => {
            let (minor, read) = amount(text)?;
            (edit.opening_bid, value) = (Some(minor), read);
        }
        Column::Reserve => {
            let (minor, read) = amount(text)?;
            (edit.reserve, value) = (Some(Some(Hidden::new(minor))), read);
        }
        Column::BuyNow => {
            let (minor, read) = amount(text)?;
            (edit.buy_now, value) = (Some(Some(minor)), read);
        }
        Column::FixedIncrement => {
            let (minor, read) = amount(text)?;
            (edit.fixed_increment, value) = (Some(Some(minor)), read);
        }
        Column::Vendor => row.vendor = Some(text.to_owned()),
        Column::EndTime => {
            let time = write::time_from(text)?;
            (edit.end_time, value) = (Some(Some(time)), Some(CellValue::Time(time)));
        }
        Column::Attachments => edit.attachments = Some(write::attachments_from(text)?),
        Column::Description
        | Column::Artist
        | Column::Date
        | Column::Medium
        | Column::Dimensions
        | Column::Credit
        | Column::Currency
        | Column::Result(_) => {}
    }
    Ok(value)
}
