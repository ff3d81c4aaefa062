//! Reads a sheet of an .xlsx workbook as CSV, so that the import treats a spreadsheet as it treats any other file.
//!
//! A cell becomes what it holds: text as it is, a number in up to 15 digits without its number format, a date as
//! `2026-11-21`. Cells are streamed, so that a cell far outside costs nothing. What the archive unpacks to is counted
//! before it is parsed, whatever the archive says about its size.

use std::io::{self, Cursor, Read as _};

use axum::body::Bytes;
use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError};
use tokio::sync::Semaphore;

/// Bytes of a workbook.
pub(super) const BYTES_MAX: usize = 25 << 20;
/// Bytes of all parts of a workbook, unpacked.
const UNPACKED_BYTES_MAX: u64 = 192 << 20;
/// Parts of a workbook.
const PARTS_MAX: usize = 2_000;
/// Sheets that a person chooses from.
const SHEETS_MAX: usize = 50;
const COLUMNS_MAX: u32 = 500;
/// Bytes of a sheet as CSV: as many as a catalogue file has.
const CSV_BYTES_MAX: usize = 64 << 20;
/// Significant digits of a number, as spreadsheets keep them.
const DIGITS: usize = 15;

/// Workbooks are read one at a time, because one can take some hundred megabytes of memory.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// A sheet as CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sheet {
    /// Names of the visible sheets.
    pub(super) names: Vec<String>,
    /// Place of this sheet among them.
    pub(super) chosen: usize,
    pub(super) csv: Bytes,
    /// The line of the CSV on which each row of the sheet begins, with the row's number.
    pub(super) rows: Vec<(u64, u64)>,
}

/// Reads a visible sheet of a workbook. Without a place, the first sheet that is not empty. An error is for the person who
/// uploaded it.
pub(super) async fn read(bytes: Bytes, place: Option<usize>) -> Result<Sheet, String> {
    if bytes.len() > BYTES_MAX {
        return Err(format!("The spreadsheet is longer than {} MiB. Save it as CSV.", BYTES_MAX >> 20));
    }
    let _turn = ONE_AT_A_TIME.acquire().await.map_err(|_| stopped())?;
    tokio::task::spawn_blocking(move || read_now(bytes, place)).await.map_err(|_| stopped())?
}

fn stopped() -> String {
    "The spreadsheet can't be read at the moment. Upload it again.".to_owned()
}

fn read_now(bytes: Bytes, place: Option<usize>) -> Result<Sheet, String> {
    check_size(&bytes)?;
    let mut book: Xlsx<Cursor<Bytes>> = Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    let visible =
        |sheet: &&calamine::Sheet| sheet.typ == SheetType::WorkSheet && sheet.visible == SheetVisible::Visible;
    let names = book.sheets_metadata().iter().filter(visible).map(|sheet| sheet.name.clone()).take(SHEETS_MAX);
    let names: Vec<String> = names.collect();
    let places = place.map_or(0..names.len(), |place| place..place + 1);
    for chosen in places {
        let name = names.get(chosen).ok_or("The spreadsheet has no such sheet.")?;
        let (csv, rows) = sheet(&mut book, name)?;
        if !rows.is_empty() {
            return Ok(Sheet { chosen, csv: csv.into(), rows, names });
        }
    }
    Err("The spreadsheet has no visible sheet with a row. Write a header, and a row for each lot.".to_owned())
}

/// Unpacks every part and counts, because an archive can say that a part is small.
fn check_size(bytes: &Bytes) -> Result<(), String> {
    let unreadable =
        |error| format!("The file is not a spreadsheet of the type .xlsx: {error}. Save it as .xlsx or CSV.");
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(error.to_string()))?;
    if archive.len() > PARTS_MAX {
        return Err(format!("The spreadsheet has more than {PARTS_MAX} parts. Save it as CSV."));
    }
    let mut left = UNPACKED_BYTES_MAX;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| unreadable(error.to_string()))?;
        let read =
            io::copy(&mut part.take(left + 1), &mut io::sink()).map_err(|error| unreadable(error.to_string()))?;
        left = left.checked_sub(read).ok_or_else(|| {
            format!("The spreadsheet unpacks to more than {} MiB. Save it as CSV.", UNPACKED_BYTES_MAX >> 20)
        })?;
    }
    Ok(())
}

fn damaged(error: &XlsxError) -> String {
    format!("The file is not a spreadsheet of the type .xlsx, or it is damaged: {error}. Save it as .xlsx or CSV.")
}

/// The rows of a sheet as CSV, with the line and the number of each.
fn sheet(book: &mut Xlsx<Cursor<Bytes>>, name: &str) -> Result<(String, Vec<(u64, u64)>), String> {
    let mut cells = book.worksheet_cells_reader(name).map_err(|error| damaged(&error))?;
    let mut writer = Writer::default();
    while let Some(cell) = cells.next_cell().map_err(|error| damaged(&error))? {
        let (row, column) = cell.get_position();
        let text = match text(cell.get_value()) {
            Ok(text) => text,
            Err(fault) => return Err(format!("Sheet “{name}”, cell {}: {fault}", address(row, column))),
        };
        if text.trim().is_empty() {
            continue;
        }
        if column >= COLUMNS_MAX {
            let at = address(row, column);
            return Err(format!("Sheet “{name}”, cell {at}: a catalogue has at most {COLUMNS_MAX} columns."));
        }
        writer.put(name, row, column, text)?;
    }
    writer.end_row();
    Ok((writer.csv, writer.rows))
}

#[derive(Default)]
struct Writer {
    csv: String,
    rows: Vec<(u64, u64)>,
    /// Line of the CSV on which the next row begins, less 1.
    lines: u64,
    /// Number and cells of the row that is being read.
    row: Option<(u32, Vec<String>)>,
}

impl Writer {
    fn put(&mut self, name: &str, row: u32, column: u32, text: String) -> Result<(), String> {
        match &self.row {
            Some((current, _)) if row < *current => {
                return Err(format!("Sheet “{name}” is damaged: its rows are not in order. Save it as CSV."));
            }
            Some((current, _)) if row == *current => {}
            _ => {
                self.end_row();
                self.row = Some((row, Vec::new()));
            }
        }
        if let Some((_, cells)) = &mut self.row {
            let place = usize::try_from(column).unwrap_or(usize::MAX);
            if cells.len() <= place {
                cells.resize(place + 1, String::new());
            }
            if let Some(cell) = cells.get_mut(place) {
                *cell = text;
            }
        }
        if self.csv.len() > CSV_BYTES_MAX {
            return Err(format!("Sheet “{name}” is longer than {} MiB as CSV. Split it.", CSV_BYTES_MAX >> 20));
        }
        Ok(())
    }

    fn end_row(&mut self) {
        let Some((row, cells)) = self.row.take() else { return };
        self.rows.push((self.lines + 1, u64::from(row) + 1));
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                self.csv.push(',');
            }
            if cell.contains([',', ';', '\t', '"', '\n', '\r']) {
                self.csv.push('"');
                self.csv.push_str(&cell.replace('"', "\"\""));
                self.csv.push('"');
            } else {
                self.csv.push_str(cell);
            }
        }
        self.csv.push('\n');
        self.lines += 1 + cells.iter().map(|cell| cell.matches('\n').count() as u64).sum::<u64>();
    }
}

/// What a cell holds, in words.
fn text(value: &DataRef<'_>) -> Result<String, String> {
    let text = match value {
        DataRef::Empty => String::new(),
        DataRef::String(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(is_true) => if *is_true { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::DateTime(at) => time_text(*at),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => {
            return Err(format!("its formula has the result {error}. Correct it, and upload it again."));
        }
    };
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// A number as a spreadsheet shows it without a format: 0.1 + 0.2 is 0.3.
fn number_text(number: f64) -> String {
    let rounded = format!("{number:.*e}", DIGITS - 1).parse::<f64>().unwrap_or(number);
    rounded.to_string()
}

/// A date, a date with a time, or a time without a date.
fn time_text(at: ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = at.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time =
        if second == 0 { format!("{hour:02}:{minute:02}") } else { format!("{hour:02}:{minute:02}:{second:02}") };
    match at.as_f64() {
        days if at.is_duration() || days < 1.0 => time,
        days if days.fract() == 0.0 => date,
        _ => format!("{date} {time}"),
    }
}

/// The name of a cell, such as `C14`.
fn address(row: u32, column: u32) -> String {
    let (mut name, mut left) = (String::new(), column + 1);
    while left > 0 {
        left -= 1;
        name.insert(0, char::from(b'A' + u8::try_from(left % 26).unwrap_or(0)));
        left /= 26;
    }
    format!("{name}{}", row + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_cell_names_are_written_as_a_spreadsheet_shows_them() {
        let shown = [12.0, 0.1 + 0.2, 1_250.5, -3.0, 1e15].map(number_text);
        assert_eq!(shown, ["12", "0.3", "1250.5", "-3", "1000000000000000"]);
        assert_eq!([address(13, 2), address(0, 25), address(0, 26), address(8, 701)], ["C14", "Z1", "AA1", "ZZ9"]);
    }

    #[test]
    fn rows_know_their_lines_when_a_cell_has_several() {
        let mut writer = Writer::default();
        for (row, column, text) in [(1, 0, "Lot"), (1, 1, "Text"), (2, 0, "1"), (2, 1, "two\nlines"), (5, 1, "a,\"b\"")]
        {
            writer.put("Lots", row, column, text.to_owned()).unwrap();
        }
        writer.end_row();
        assert_eq!(writer.csv, "Lot,Text\n1,\"two\nlines\"\n,\"a,\"\"b\"\"\"\n");
        assert_eq!(writer.rows, [(1, 2), (2, 3), (4, 6)]);
        assert!(writer.put("Lots", 9, 0, "2".into()).is_ok() && writer.put("Lots", 3, 0, "3".into()).is_err());
    }
}
