//! Reads a catalogue file row by row into items, and collects every mistake. Pure except for the source.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use contract::ItemStatus;

use super::columns::{Column, columns};
use super::records::{Field, FieldFault, ReadError, Record, RecordLimits, Records};
use super::report::{ImportReport, RowError};
use super::{formula, write};
use crate::amounts::CurrencyFormat;
use crate::config::CatalogueLimits;
use crate::sales::new_item::{ItemContext, ItemField, NewItem};

/// Bytes read from the source at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Lot numbers of a file, and the lines that they are on.
pub(super) type Lots = HashMap<String, u64>;

/// What the rows of a file become.
#[derive(Debug, Clone)]
pub(super) struct RowTarget {
    pub(super) status: ItemStatus,
    /// The context of their auction.
    pub(super) setting: ItemContext,
    /// The currency of their auction.
    pub(super) currency: CurrencyFormat,
}

/// The items of a catalogue file with the lines that they begin on, and its mistakes. The items are complete only if
/// there is no mistake.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn read(
    source: impl Read,
    limits: &CatalogueLimits,
    wanted: RowTarget,
) -> (Vec<(u64, NewItem)>, ImportReport) {
    let mut items = Vec::new();
    let (_, report) = read_each(source, limits, wanted, |row| items.extend(row.item.map(|item| (row.line, item))));
    (items, report)
}

/// A row that was read.
pub(super) struct ReadRow {
    /// The line that it begins on.
    #[cfg(any(test, feature = "fuzzing"))]
    line: u64,
    /// The item; none after the first mistake of the file.
    pub(super) item: Option<NewItem>,
    /// The text that names the item's consignor, with its line, if it is not a UUID.
    pub(super) consignor: Option<(u64, String)>,
}

/// Reads a catalogue file and passes each row to `take`. After the first mistake the rows have no items.
pub(super) fn read_each(
    source: impl Read,
    limits: &CatalogueLimits,
    wanted: RowTarget,
    take: impl FnMut(ReadRow),
) -> (Lots, ImportReport) {
    let record_limits = RecordLimits {
        field_bytes_max: limits.field_bytes_max,
        record_bytes_max: limits.row_bytes_max,
        fields_max: Column::ALL.len(),
        file_bytes_max: limits.file_bytes_max,
    };
    let mut reading = Reading { limits, wanted, report: ImportReport::default(), take, lots: HashMap::new() };
    let mut records = Records::new(BufReader::with_capacity(BUFFER_BYTES, source), record_limits);
    if let Err(error) = reading.file(&mut records) {
        let message = match error {
            ReadError::FileTooLong(bytes) => format!("the file is longer than {bytes} bytes: split it"),
            ReadError::Io(error) => format!("the file can't be read to its end: {error}"),
        };
        reading.error(RowError { line: records.line(), column: None, message });
    }
    (reading.lots, reading.report)
}

struct Reading<'a, T> {
    limits: &'a CatalogueLimits,
    wanted: RowTarget,
    report: ImportReport,
    take: T,
    /// Lot numbers so far.
    lots: Lots,
}

impl<T: FnMut(ReadRow)> Reading<'_, T> {
    fn file<R: std::io::BufRead>(&mut self, records: &mut Records<R>) -> Result<(), ReadError> {
        let Some(header) = records.next()? else {
            let message = "the file is empty: write a header, and a row for each lot".to_owned();
            self.error(RowError { line: 1, column: None, message });
            return Ok(());
        };
        if is_utf_16(&header) {
            let message =
                "the file is UTF-16, which spreadsheets call Unicode text: save it as CSV in UTF-8".to_owned();
            self.error(RowError { line: 1, column: None, message });
            return Ok(());
        }
        let columns = match columns(&header) {
            Ok(columns) => columns,
            Err(errors) => {
                errors.into_iter().for_each(|error| self.error(error));
                return Ok(());
            }
        };
        while let Some(record) = records.next()? {
            if is_blank(&record) {
                continue;
            }
            if self.report.rows == self.limits.rows_max {
                let message = format!("there are more than {} rows: split the file", self.limits.rows_max);
                self.error(RowError { line: record.line, column: None, message });
                return Ok(());
            }
            self.report.rows += 1;
            self.row(&columns, &record);
            if self.report.other_currency.is_some() {
                return Ok(());
            }
        }
        if self.report.rows == 0 {
            let message = "there is no row after the header: add one for each lot".to_owned();
            self.error(RowError { line: 1, column: None, message });
        }
        Ok(())
    }

    fn row(&mut self, columns: &[Column], record: &Record) {
        if record.field_count != columns.len() && !record.fields.iter().any(|field| field.fault.is_some()) {
            let message = format!(
                "the row has {} fields and the header {}: check its commas, and put a field with a comma in quotes",
                record.field_count,
                columns.len()
            );
            return self.error(RowError { line: record.line, column: None, message });
        }
        let mut row = Row { line: record.line, cells: HashMap::new(), errors: Vec::new() };
        for (column, field) in columns.iter().zip(&record.fields) {
            row.cell(*column, field, self.limits);
        }
        self.report.other_currency = row.other_currency(&self.wanted.currency);
        let item = row.item(self.wanted.status, &self.wanted.currency);
        let named = row.filled(Column::Vendor).filter(|_| item.vendor.is_none());
        let consignor = named.map(|text| (row.line(Column::Vendor), text.to_owned()));
        row.check(&item, self.wanted.setting);
        self.note_lot(&mut row, &item);
        row.errors.sort_by_key(|(line, ..)| *line);
        for (line, column, message) in row.errors {
            self.error(RowError { line, column: Some(column.name().into()), message });
        }
        let item = Some(item).filter(|_| self.report.error_count == 0);
        if item.is_some() || consignor.is_some() {
            (self.take)(ReadRow {
                #[cfg(any(test, feature = "fuzzing"))]
                line: record.line,
                item,
                consignor,
            });
        }
    }

    fn note_lot(&mut self, row: &mut Row<'_>, item: &NewItem) {
        if item.lot_number.is_empty() {
            return;
        }
        let line = row.line(Column::LotNumber);
        match self.lots.get(&item.lot_number) {
            Some(first) => {
                let message = format!("the lot number {} is on line {first} already: use another", item.lot_number);
                row.error(Column::LotNumber, message);
            }
            None => {
                self.lots.insert(item.lot_number.clone(), line);
            }
        }
    }

    fn error(&mut self, error: RowError) {
        self.report.error(error, self.limits.errors_max);
    }
}

/// One row that becomes an item.
struct Row<'a> {
    /// Where it begins.
    line: u64,
    /// Text of each column, trimmed, with its line. An unreadable field counts as empty; its error is in `errors`.
    cells: HashMap<&'static str, (u64, &'a str)>,
    errors: Vec<(u64, Column, String)>,
}

impl<'a> Row<'a> {
    fn cell(&mut self, column: Column, field: &'a Field, limits: &CatalogueLimits) {
        self.cells.insert(column.name(), (field.line, ""));
        if let Some(fault) = field.fault {
            return self.error(column, fault_message(fault, limits));
        }
        match std::str::from_utf8(&field.bytes) {
            Ok(text) => {
                self.cells.insert(column.name(), (field.line, formula::unescape_formula(text.trim())));
            }
            Err(error) => {
                let at = error.valid_up_to();
                self.error(column, format!("is not UTF-8 at byte {} of the field: save the file as UTF-8", at + 1));
            }
        }
    }

    /// The currency of the row with its line, if it is not that of the auction.
    fn other_currency(&self, wanted: &CurrencyFormat) -> Option<(u64, String)> {
        let found = self.filled(Column::Currency).filter(|found| *found != wanted.code())?;
        Some((self.line(Column::Currency), found.to_owned()))
    }

    fn item(&mut self, status: ItemStatus, currency: &CurrencyFormat) -> NewItem {
        let about =
            [Column::Description, Column::Artist, Column::Date, Column::Medium, Column::Dimensions, Column::Credit];
        let lines: Vec<&str> = about.into_iter().filter_map(|column| self.filled(column)).collect();
        NewItem {
            lot_number: self.text(Column::LotNumber).to_owned(),
            title: self.text(Column::Title).to_owned(),
            description: lines.join("\n"),
            category: self.filled(Column::Category).map(str::to_owned),
            image_url: self.filled(Column::ImageUrl).map(str::to_owned),
            attachments: self.parsed(Column::Attachments, write::attachments_from).unwrap_or_default(),
            low_estimate: self.amount(Column::LowEstimate, currency),
            high_estimate: self.amount(Column::HighEstimate, currency),
            opening_bid: self.amount(Column::OpeningBid, currency).unwrap_or(0),
            reserve: self.amount(Column::Reserve, currency),
            buy_now: self.amount(Column::BuyNow, currency),
            vendor: self.filled(Column::Vendor).and_then(|text| text.parse().ok()),
            fixed_increment: self.amount(Column::FixedIncrement, currency),
            end_time: self.parsed(Column::EndTime, write::time_from),
            status,
            images_of: None,
        }
    }

    /// Runs the checks of every new item, and reports the problems by column.
    fn check(&mut self, item: &NewItem, setting: ItemContext) {
        let unfitting = setting.unfitting(item).map(|(field, message)| (field, message.to_owned()));
        for (field, message) in item.problems().into_iter().chain(unfitting) {
            let column = match field {
                ItemField::LotNumber => Column::LotNumber,
                ItemField::Title | ItemField::Status => Column::Title,
                ItemField::FixedIncrement => Column::FixedIncrement,
                ItemField::BuyNow => Column::BuyNow,
                ItemField::EndTime => Column::EndTime,
                ItemField::Description => Column::Credit,
                ItemField::Category => Column::Category,
                ItemField::ImageUrl => Column::ImageUrl,
                ItemField::LowEstimate => Column::LowEstimate,
                ItemField::HighEstimate => Column::HighEstimate,
                ItemField::OpeningBid => Column::OpeningBid,
                ItemField::Reserve => Column::Reserve,
            };
            // A field with a reading error is not also reported as empty.
            let column = if column == Column::Credit && !self.has(column) { Column::Description } else { column };
            if !self.errors.iter().any(|(_, faulty, _)| *faulty == column) {
                self.error(column, message);
            }
        }
    }

    fn has(&self, column: Column) -> bool {
        self.cells.contains_key(column.name())
    }

    fn amount(&mut self, column: Column, currency: &CurrencyFormat) -> Option<i64> {
        self.parsed(column, |text| currency.read_exported(text).map_err(|error| error.to_string()))
    }

    fn parsed<T>(&mut self, column: Column, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.filled(column)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.error(column, message);
                None
            }
        }
    }

    fn text(&self, column: Column) -> &'a str {
        self.cells.get(column.name()).map_or("", |(_, text)| text)
    }

    fn filled(&self, column: Column) -> Option<&'a str> {
        Some(self.text(column)).filter(|text| !text.is_empty())
    }

    fn line(&self, column: Column) -> u64 {
        self.cells.get(column.name()).map_or(self.line, |(line, _)| *line)
    }

    fn error(&mut self, column: Column, message: String) {
        self.errors.push((self.line(column), column, message));
    }
}

/// True for a row of commas only, which spreadsheets leave after deleted rows.
fn is_blank(record: &Record) -> bool {
    let is_blank = |field: &Field| field.fault.is_none() && field.bytes.iter().all(u8::is_ascii_whitespace);
    record.field_count == record.fields.len() && record.fields.iter().all(is_blank)
}

/// True for a file in UTF-16: it begins with a byte order mark, or every second byte of an ASCII name is NUL.
fn is_utf_16(header: &Record) -> bool {
    let first = header.fields.first().map_or(&[][..], |field| &field.bytes);
    first.starts_with(&[0xff, 0xfe]) || first.starts_with(&[0xfe, 0xff]) || first.contains(&0)
}

pub(crate) fn fault_message(fault: FieldFault, limits: &CatalogueLimits) -> String {
    match fault {
        FieldFault::TextAfterQuote => {
            "there is text after the closing quote: write a quote within quotes twice (\"\")".into()
        }
        FieldFault::Unclosed => "the quote that opens this field is never closed: close it".into(),
        FieldFault::TooLong => {
            format!("is longer than {} bytes: shorten it, and check that its quote is closed", limits.field_bytes_max)
        }
        FieldFault::RecordTooLong => format!(
            "the row is longer than {} bytes: shorten it, and check that its quotes are closed",
            limits.row_bytes_max
        ),
    }
}

#[cfg(test)]
mod tests;
