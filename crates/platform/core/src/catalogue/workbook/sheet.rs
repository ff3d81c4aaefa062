//! The cells of a sheet, one after the other.

use super::archive::Archive;
use super::csv::CsvWriter;
use super::formats::CellFormats;
use super::shared_strings::{SharedStrings, read_string};
use super::sheet_list::SheetEntry;
use super::text::LimitedText;
use super::value::{self, References};
use super::xml::{Next, XmlPart, attribute, is_named};
use super::{COLUMNS_MAX, damaged};
use crate::config::CatalogueLimits;

/// Columns and rows of a sheet, as spreadsheets limit them.
const SHEET_COLUMNS_MAX: u32 = 16_384;
const SHEET_ROWS_MAX: u32 = 1_048_576;

/// The place of a cell, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellPlace {
    pub(super) row: u32,
    pub(super) column: u32,
}

/// Reads the rows of a sheet.
pub(super) fn read(
    archive: &mut Archive,
    entry: &SheetEntry,
    (strings, formats): (&SharedStrings, &CellFormats),
    limits: &CatalogueLimits,
) -> Result<CsvWriter, String> {
    let (name, mut writer) = (&entry.name, CsvWriter::new(limits));
    let mut part = archive.required_part(&entry.path)?;
    while !matches!(part.next()?, Next::Start(start) if is_named(&start, "sheetData")) {}
    let depth = part.depth();
    let (mut next, mut has_row) = (CellPlace { row: 0, column: 0 }, false);
    let (mut raw, mut unescaped) = (LimitedText::default(), LimitedText::default());
    while part.depth() >= depth {
        let Next::Start(start) = part.next()? else { continue };
        if is_named(&start, "row") {
            let row = match attribute(&start, "r")? {
                Some(row) => row_number(&row)?,
                None => next.row + u32::from(has_row),
            };
            (next, has_row) = (CellPlace { row, column: 0 }, true);
        } else if is_named(&start, "c") {
            let (cell_type, style) = (attribute(&start, "t")?, attribute(&start, "s")?);
            let place = attribute(&start, "r")?.map_or(Ok(next), |address| place_of(&address))?;
            next.column = place.column.saturating_add(1);
            let cell_type = cell_type.as_deref();
            let at = |fault: String| format!("Sheet “{name}”, cell {}: {fault}", address(place));
            let text = match cell_value(&mut part, cell_type, &mut raw)? {
                Value::Own => std::borrow::Cow::Borrowed(raw.as_str()),
                Value::Coded => {
                    let of = References { strings, formats };
                    value::text(of, raw.as_str(), (cell_type, style.as_deref()), &mut unescaped).map_err(at)?
                }
            };
            writer.count_text(text.len()).map_err(|fault| format!("Sheet “{name}” {fault}"))?;
            if text.trim().is_empty() {
                continue;
            }
            if place.column >= COLUMNS_MAX {
                return Err(at(format!("a catalogue has at most {COLUMNS_MAX} columns.")));
            }
            let is_number = matches!(cell_type, None | Some("n"));
            writer.put(place, &text, is_number).map_err(|fault| format!("Sheet “{name}” {fault}"))?;
        }
    }
    writer.end_row().map_err(|fault| format!("Sheet “{name}” {fault}"))?;
    Ok(writer)
}

/// How the value of a cell is written.
enum Value {
    /// The text itself, within the cell.
    Own,
    /// As its type says.
    Coded,
}

/// Reads to the end of a cell. The last value counts.
fn cell_value(part: &mut XmlPart<'_>, cell_type: Option<&str>, raw: &mut LimitedText) -> Result<Value, String> {
    let is_own = matches!(cell_type, Some("inlineStr" | "is"));
    let (depth, mut value) = (part.depth(), Value::Coded);
    raw.clear();
    while part.depth() >= depth {
        let Next::Start(start) = part.next()? else { continue };
        if is_named(&start, "is") {
            read_string(part, raw)?;
            value = Value::Own;
        } else if is_named(&start, "v") && !is_own {
            raw.clear();
            part.text(raw)?;
            value = Value::Coded;
        } else {
            // A formula, or the redundant value beside a text.
            part.skip_from(part.depth())?;
        }
    }
    Ok(if is_own { Value::Own } else { value })
}

fn row_number(text: &str) -> Result<u32, String> {
    let number =
        text.parse::<u32>().ok().filter(|number| (1..=SHEET_ROWS_MAX).contains(number) && !text.starts_with('+'));
    number.map(|number| number - 1).ok_or_else(|| damaged("a row of it has no number"))
}

/// The place of an address such as `C14`.
fn place_of(address: &str) -> Result<CellPlace, String> {
    let wrong = || damaged("a cell of it has no address");
    let letters = address.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = address.split_at(letters);
    let column = letters.bytes().try_fold(0_u32, |column, letter| {
        let column = column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
        Some(column).filter(|column| *column <= SHEET_COLUMNS_MAX)
    });
    let column = column.and_then(|column| column.checked_sub(1)).ok_or_else(wrong)?;
    Ok(CellPlace { row: row_number(digits)?, column })
}

/// The address of a cell, such as `C14`.
fn address(place: CellPlace) -> String {
    let (mut name, mut left) = (String::new(), place.column + 1);
    while left > 0 {
        left -= 1;
        name.insert(0, char::from(b'A' + u8::try_from(left % 26).unwrap_or(0)));
        left /= 26;
    }
    format!("{name}{}", place.row + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_letters_and_a_number() {
        for (row, column, text) in
            [(13, 2, "C14"), (0, 25, "Z1"), (0, 26, "AA1"), (8, 701, "ZZ9"), (1_048_575, 16_383, "XFD1048576")]
        {
            let place = CellPlace { row, column };
            assert_eq!(address(place), text);
            assert_eq!(place_of(text).unwrap(), place);
        }
        for wrong in
            ["", "C", "14", "C0", "XFE1", "A1048577", "ZZZZZZZZZZ1", "A99999999999", "A-1", "Ä1", "A+1", "$A$1"]
        {
            assert!(place_of(wrong).is_err(), "{wrong}");
        }
    }
}
