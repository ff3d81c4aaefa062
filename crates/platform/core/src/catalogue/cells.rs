//! Cells of a house's file as a person checks them: the reading of a cell, and texts that replace the text of a cell.

use std::collections::BTreeMap;

use jiff::Timestamp;
use uuid::Uuid;

use super::records::{Field, Record};

/// Characters of a cell that a person mends without another upload, at most.
const MENDED_CHARS_MAX: usize = 2_000;

/// A cell of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellAt {
    /// The physical line that its row begins on, from 1.
    pub line: u64,
    /// Place of its column, from 0.
    pub column: usize,
}

/// The reading of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellValue {
    /// An amount in minor units.
    Amount(i64),
    /// Low and high estimate in minor units.
    Estimate(i64, i64),
    /// A time.
    Time(Timestamp),
    /// A consignor of the register.
    Consignor(Uuid),
}

impl CellValue {
    /// The amounts of the value in minor units.
    pub(super) fn amounts(self) -> Vec<i64> {
        match self {
            Self::Amount(minor) => vec![minor],
            Self::Estimate(low, high) => vec![low, high],
            Self::Time(_) | Self::Consignor(_) => Vec::new(),
        }
    }
}

/// An amount that is likelier with the other decimal mark than with the chosen one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubtfulCell {
    /// Where it is.
    pub at: CellAt,
    /// Its text.
    pub text: String,
    /// Its reading.
    pub value: CellValue,
    /// Its reading with the other mark.
    pub other: CellValue,
}

/// A cell that is more than its text, with its reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadCell {
    /// Place of its column, from 0.
    pub column: usize,
    /// Its text.
    pub text: Box<str>,
    /// What it means.
    pub value: CellValue,
}

/// A cell with a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyCell {
    /// The line of the error.
    pub line: u64,
    /// The header of its column.
    pub header: String,
    /// Where it is.
    pub at: CellAt,
    /// Its whole text.
    pub text: String,
}

/// A cell whose text was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MendedCell {
    /// Where it is.
    pub at: CellAt,
    /// The text in the file.
    pub before: String,
    /// The text instead.
    pub text: String,
    /// Its reading, if it is more than the text and has no mistake.
    pub value: Option<CellValue>,
}

/// Texts that replace those of cells, without another upload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MendedCells(BTreeMap<CellAt, String>);

impl MendedCells {
    /// Replaces the text of a cell.
    pub fn insert(&mut self, at: CellAt, text: String) {
        self.0.insert(at, text);
    }

    /// Puts the texts into a record of a file with this number of columns; returns the cells that they change.
    pub(super) fn apply(&self, record: &mut Record, columns: usize) -> Vec<MendedCell> {
        let line = record.line;
        let cells = CellAt { line, column: 0 }..CellAt { line, column: columns };
        let mut changed = Vec::new();
        for (at, text) in self.0.range(cells) {
            while record.fields.len() <= at.column {
                record.fields.push(Field { line, ..Field::default() });
            }
            let count = record.fields.len();
            let Some(field) = record.fields.get_mut(at.column) else { continue };
            let before = String::from_utf8_lossy(&field.bytes).trim().to_owned();
            if before == *text {
                continue;
            }
            *field = Field { line: field.line, bytes: text.clone().into_bytes(), is_quoted: true, fault: None };
            record.field_count = record.field_count.max(count);
            changed.push(MendedCell { at: *at, before, text: text.clone(), value: None });
        }
        changed
    }
}

/// The text of a cell that a person can mend; none for one that is too long for a form.
pub(super) fn mendable(field: &Field) -> Option<String> {
    let text = String::from_utf8_lossy(&field.bytes).trim().to_owned();
    (field.fault.is_none() && text.chars().count() <= MENDED_CHARS_MAX).then_some(text)
}
