//! Reads a sheet of an .xlsx workbook as CSV, so that the import treats a spreadsheet as it treats any other file.
//!
//! A cell becomes what it holds: text as it is, a number in up to 15 digits without its number format, a date as
//! `2026-11-21`. Only the parts that are needed are unpacked: the list of sheets, the shared texts, the formats of
//! dates, and the sheet. **Guarantee:** no number in the file decides how much is allocated. Everything is counted while
//! it is read, whatever the file says about its size, and the file is refused at the first limit that it exceeds.

mod archive;
mod csv;
mod dates;
mod formats;
mod shared_strings;
mod sheet;
mod sheet_list;
mod text;
mod value;
mod xml;

use bytes::Bytes;

use self::archive::Archive;
use self::formats::CellFormats;
use self::shared_strings::SharedStrings;
use self::sheet_list::Contents;
use crate::config::CatalogueLimits;
pub use crate::port::{PART_BYTES, RowNumbers};

/// Bytes of a workbook.
pub const WORKBOOK_BYTES_MAX: usize = 25 << 20;
/// Bytes of all parts of a workbook, unpacked.
const UNPACKED_BYTES_MAX: u64 = 192 << 20;
/// Parts of a workbook.
const PARTS_MAX: usize = 2_000;
/// Sheets that a person chooses from.
const SHEETS_MAX: usize = 50;
/// Characters of a cell, as spreadsheets limit them.
const CELL_CHARS_MAX: usize = 32_767;
/// Columns with text.
const COLUMNS_MAX: u32 = 500;
/// Bytes of the texts of a row.
const ROW_BYTES_MAX: usize = 1 << 20;
/// Rows with text beyond the rows of a catalogue: titles and notes above the header.
const OTHER_ROWS_MAX: u64 = 1_000;
/// Texts that cells share.
const SHARED_STRINGS_MAX: usize = 2_000_000;
/// Bytes of the texts that cells share.
const SHARED_STRING_BYTES_MAX: usize = 64 << 20;

/// The first bytes of a ZIP archive, which a workbook is.
const ZIP: &[u8] = b"PK\x03\x04";

/// A sheet as CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkbookSheet {
    /// Names of the visible sheets.
    pub names: Vec<String>,
    /// Place of this sheet among them.
    pub chosen: usize,
    /// The CSV, in parts of [`PART_BYTES`].
    pub csv: Vec<Vec<u8>>,
    /// The rows of the sheet that the lines of the CSV are from.
    pub rows: RowNumbers,
}

/// True for a file that begins like a workbook.
pub fn is_workbook(beginning: &[u8]) -> bool {
    beginning.starts_with(ZIP)
}

/// Reads a visible sheet of a workbook. Without a place, the first sheet that is not empty. An error is for the person
/// who uploaded it.
pub fn read_workbook(bytes: Bytes, place: Option<usize>, limits: &CatalogueLimits) -> Result<WorkbookSheet, String> {
    if bytes.len() > WORKBOOK_BYTES_MAX {
        return Err(format!("The spreadsheet is longer than {} MiB. Save it as CSV.", WORKBOOK_BYTES_MAX >> 20));
    }
    let mut archive = Archive::open(bytes)?;
    let Contents { sheets, has_1904_dates, folder } = sheet_list::read(&mut archive)?;
    let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let strings = SharedStrings::read(&mut archive, &folder)?;
    let formats = CellFormats::read(&mut archive, &folder, has_1904_dates)?;
    let places = place.map_or(0..sheets.len(), |place| place..place.saturating_add(1));
    for chosen in places {
        let entry = sheets.get(chosen).ok_or("The spreadsheet has no such sheet.")?;
        let writer = sheet::read(&mut archive, entry, (&strings, &formats), limits)?;
        let (csv, rows) = writer.finish();
        if !rows.is_empty() {
            return Ok(WorkbookSheet { names, chosen, csv, rows });
        }
    }
    Err("The spreadsheet has no visible sheet with a row. Write a header, and a row for each lot.".to_owned())
}

/// The file can't be read as a workbook; `what` says why.
fn damaged(what: impl std::fmt::Display) -> String {
    format!("The file is not a spreadsheet of the type .xlsx, or it is damaged: {what}. Save it as .xlsx or CSV.")
}

#[cfg(test)]
mod tests;
