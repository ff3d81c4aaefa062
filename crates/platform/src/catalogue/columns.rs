//! The columns of a catalogue, and which of them a file has.

use super::records::{FieldFault, Record};
use super::report::RowError;

/// A column of a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    LotNumber,
    Title,
    Artist,
    Date,
    Medium,
    Dimensions,
    Credit,
    ImageUrl,
    LowEstimate,
    HighEstimate,
    OpeningBid,
    Reserve,
}

impl Column {
    pub(super) const ALL: [Self; 12] = [
        Self::LotNumber,
        Self::Title,
        Self::Artist,
        Self::Date,
        Self::Medium,
        Self::Dimensions,
        Self::Credit,
        Self::ImageUrl,
        Self::LowEstimate,
        Self::HighEstimate,
        Self::OpeningBid,
        Self::Reserve,
    ];

    const REQUIRED: [Self; 2] = [Self::LotNumber, Self::Title];

    /// The name in the header.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::LotNumber => "lot_number",
            Self::Title => "title",
            Self::Artist => "artist",
            Self::Date => "date",
            Self::Medium => "medium",
            Self::Dimensions => "dimensions",
            Self::Credit => "credit",
            Self::ImageUrl => "image_url",
            Self::LowEstimate => "low_estimate",
            Self::HighEstimate => "high_estimate",
            Self::OpeningBid => "opening_bid",
            Self::Reserve => "reserve",
        }
    }
}

/// The columns of a file, in its order.
pub(super) fn columns(header: &Record) -> Result<Vec<Column>, Vec<RowError>> {
    let mut columns = Vec::new();
    let mut errors = Vec::new();
    for (index, field) in header.fields.iter().enumerate() {
        let name = String::from_utf8_lossy(&field.bytes);
        let name = if index == 0 { name.trim_start_matches('\u{feff}') } else { &name };
        let name = name.trim();
        let shown: String = name.chars().take(60).collect();
        let mut error =
            |message: String| errors.push(RowError { line: field.line, column: Some(shown.clone()), message });
        if field.fault.is_some_and(|fault| fault != FieldFault::TextAfterQuote) {
            error("this header can't be read: check its quotes".into());
            continue;
        }
        match Column::ALL.into_iter().find(|column| column.name() == name) {
            Some(column) if columns.contains(&column) => {
                error(format!("the column {shown} stands there twice: remove one"));
            }
            Some(column) => columns.push(column),
            None => error(unknown(name, header.field_count)),
        }
    }
    let extra = header.field_count.saturating_sub(header.fields.len());
    if extra > 0 {
        let message =
            format!("the header has {} columns; a catalogue has at most {}", header.field_count, Column::ALL.len());
        errors.push(RowError { line: header.line, column: None, message });
    }
    for required in Column::REQUIRED {
        if !columns.contains(&required) {
            let message = format!("the column {} is missing: add it to the header", required.name());
            errors.push(RowError { line: header.line, column: Some(required.name().into()), message });
        }
    }
    if errors.is_empty() { Ok(columns) } else { Err(errors) }
}

fn unknown(name: &str, field_count: usize) -> String {
    let all = Column::ALL.map(Column::name).join(",");
    if field_count == 1 && (name.contains(';') || name.contains('\t')) {
        return format!("fields are separated by commas, not by semicolons or tabs; the header is {all}");
    }
    if name.is_empty() {
        return "a column has no name: give it one, or remove it".into();
    }
    format!("there is no such column; the known ones are {all}")
}
