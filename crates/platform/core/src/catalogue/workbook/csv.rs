//! Rows of a sheet as CSV, and which rows its lines are from.

use super::sheet::CellPlace;
use super::{OTHER_ROWS_MAX, ROW_BYTES_MAX};
use crate::config::CatalogueLimits;
use crate::port::{PART_BYTES, RowNumbers};

/// Bytes of a cell's allocation that the next row uses.
const CELL_CAPACITY_BYTES: usize = 1 << 10;

/// A cell of the row that is being read.
#[derive(Default)]
struct Cell {
    text: String,
    is_number: bool,
}

/// Writes rows, within limits on a row and on all of them.
pub(super) struct CsvWriter {
    parts: Vec<Vec<u8>>,
    rows: RowNumbers,
    row_count: u64,
    row_count_max: u64,
    /// Bytes of cells that may still be read, also of those that are not written.
    left_text_bytes: u64,
    /// Bytes of CSV that may still be written.
    left_bytes: u64,
    bytes_max: u64,
    /// Line of the CSV on which the next row begins, less 1.
    lines: u64,
    /// Number of the row that is being read.
    row: Option<u32>,
    /// Its cells, of which the first `cell_count` count.
    cells: Vec<Cell>,
    cell_count: usize,
    cell_bytes: usize,
}

impl CsvWriter {
    pub(super) fn new(limits: &CatalogueLimits) -> Self {
        Self {
            parts: Vec::new(),
            rows: RowNumbers::default(),
            row_count: 0,
            row_count_max: limits.rows_max.saturating_add(OTHER_ROWS_MAX),
            left_text_bytes: limits.file_bytes_max,
            left_bytes: limits.file_bytes_max,
            bytes_max: limits.file_bytes_max,
            lines: 0,
            row: None,
            cells: Vec::new(),
            cell_count: 0,
            cell_bytes: 0,
        }
    }

    /// Counts the text of a cell. An error follows the name of the sheet, as those of all methods.
    pub(super) fn count_text(&mut self, bytes: usize) -> Result<(), String> {
        self.left_text_bytes = self.left_text_bytes.checked_sub(bytes as u64).ok_or_else(|| self.too_long())?;
        Ok(())
    }

    /// Puts a text into a cell of the current row, or of a later one. The last text of a cell counts. A text with a point
    /// is written in quotes and a number without, so that a reader knows which point is a decimal mark.
    pub(super) fn put(&mut self, place: CellPlace, text: &str, is_number: bool) -> Result<(), String> {
        match self.row {
            Some(current) if place.row < current => {
                return Err("is damaged: its rows are not in order. Save it as CSV.".to_owned());
            }
            Some(current) if place.row == current => {}
            _ => {
                self.end_row()?;
                self.row = Some(place.row);
            }
        }
        let column = usize::try_from(place.column).unwrap_or(usize::MAX);
        if self.cells.len() <= column {
            self.cells.resize_with(column + 1, Cell::default);
        }
        self.cell_count = self.cell_count.max(column + 1);
        let Some(cell) = self.cells.get_mut(column) else { return Ok(()) };
        self.cell_bytes = self.cell_bytes - cell.text.len() + text.len();
        if self.cell_bytes > ROW_BYTES_MAX {
            let row = place.row + 1;
            return Err(format!("has more than {} MiB of text in row {row}. Shorten it.", ROW_BYTES_MAX >> 20));
        }
        cell.text.clear();
        cell.text.push_str(text);
        cell.is_number = is_number;
        Ok(())
    }

    /// Writes the row that is being read.
    pub(super) fn end_row(&mut self) -> Result<(), String> {
        let Some(row) = self.row.take() else { return Ok(()) };
        if self.row_count == self.row_count_max {
            return Err(format!("has more than {} rows. Split it.", self.row_count_max));
        }
        self.row_count += 1;
        self.rows.push(self.lines + 1, u64::from(row) + 1);
        let mut cells = std::mem::take(&mut self.cells);
        let written = cells.iter().take(self.cell_count).enumerate().try_for_each(|(column, cell)| {
            if column > 0 {
                self.write(",")?;
            }
            self.write_cell(cell)
        });
        // The allocations of ordinary cells serve the next row.
        for cell in cells.iter_mut().take(self.cell_count) {
            cell.text.clear();
            cell.text.shrink_to(CELL_CAPACITY_BYTES);
        }
        (self.cells, self.cell_count, self.cell_bytes) = (cells, 0, 0);
        written?;
        self.write("\n")?;
        self.lines += 1;
        Ok(())
    }

    /// The parts of the CSV, and its rows.
    pub(super) fn finish(self) -> (Vec<Vec<u8>>, RowNumbers) {
        (self.parts, self.rows)
    }

    fn write_cell(&mut self, Cell { text: cell, is_number }: &Cell) -> Result<(), String> {
        if !cell.contains([',', ';', '\t', '"', '\n', '\r']) && (*is_number || !cell.contains('.')) {
            return self.write(cell);
        }
        self.write("\"")?;
        // A line break is one character, and a quote is written twice.
        let mut rest = cell.as_str();
        while let Some(at) = rest.find(['"', '\r', '\n']) {
            let (before, from) = rest.split_at(at);
            self.write(before)?;
            let is_quote = from.starts_with('"');
            self.write(if is_quote { "\"\"" } else { "\n" })?;
            self.lines += u64::from(!is_quote);
            rest = from.strip_prefix("\r\n").or_else(|| from.get(1..)).unwrap_or_default();
        }
        self.write(rest)?;
        self.write("\"")
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        self.left_bytes = self.left_bytes.checked_sub(text.len() as u64).ok_or_else(|| self.too_long())?;
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let room = match self.parts.last() {
                Some(part) if part.len() < PART_BYTES => PART_BYTES - part.len(),
                _ => {
                    self.parts.push(Vec::new());
                    PART_BYTES
                }
            };
            let (now, later) = rest.split_at(rest.len().min(room));
            if let Some(part) = self.parts.last_mut() {
                part.extend_from_slice(now);
            }
            rest = later;
        }
        Ok(())
    }

    fn too_long(&self) -> String {
        format!("is longer than {} MiB as CSV. Split it.", self.bytes_max >> 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(writer: &mut CsvWriter, row: u32, column: u32, text: &str) -> Result<(), String> {
        writer.count_text(text.len())?;
        writer.put(CellPlace { row, column }, text, false)
    }

    #[test]
    fn rows_know_their_lines_when_a_cell_has_several() {
        let mut writer = CsvWriter::new(&CatalogueLimits::default());
        for (row, column, text) in [
            (1, 0, "Lot"),
            (1, 1, "Text"),
            (2, 0, "1"),
            (2, 1, "three\r\nli\rnes"),
            (5, 1, "a,\"b\""),
            (6, 0, "3"),
            (6, 0, "4"),
            (8, 0, "5"),
        ] {
            put(&mut writer, row, column, text).unwrap();
        }
        assert!(put(&mut writer, 3, 0, "3").unwrap_err().contains("not in order"));
        writer.end_row().unwrap();
        let (parts, rows) = writer.finish();
        let csv = "Lot,Text\n1,\"three\nli\nnes\"\n,\"a,\"\"b\"\"\"\n4\n5\n";
        assert_eq!(String::from_utf8(parts.concat()).unwrap(), csv);
        let found: Vec<u64> = (1..=7).map(|line| rows.row_of(line)).collect();
        assert_eq!(found, [2, 3, 3, 3, 6, 7, 9]);
        assert_eq!(RowNumbers::default().row_of(5), 5);
    }

    #[test]
    fn a_row_and_all_rows_have_limits() {
        let limits = CatalogueLimits { file_bytes_max: 4 << 20, rows_max: 10, ..CatalogueLimits::default() };
        let mut writer = CsvWriter::new(&limits);
        let long = "x".repeat(ROW_BYTES_MAX / 2);
        put(&mut writer, 0, 0, &long).unwrap();
        put(&mut writer, 0, 0, &long).unwrap();
        put(&mut writer, 0, 1, &long).unwrap();
        assert!(put(&mut writer, 0, 2, "x").unwrap_err().contains("more than 1 MiB of text in row 1"));
        let mut writer = CsvWriter::new(&limits);
        let refused = (0..9).map(|row| put(&mut writer, row, 0, &long)).find_map(Result::err);
        assert!(refused.unwrap().contains("longer than 4 MiB as CSV"));
        let mut writer = CsvWriter::new(&limits);
        let refused = (0..2_000).map(|row| put(&mut writer, row, 0, "x")).find_map(Result::err);
        assert!(refused.unwrap().contains("more than 1010 rows"));
    }
}
