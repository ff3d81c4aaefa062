//! The columns of a catalogue, and which of them a file has.

use super::records::{FieldFault, Record};
use super::report::RowError;

/// A column of a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    LotNumber,
    Title,
    Description,
    Category,
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
    BuyNow,
    FixedIncrement,
    Vendor,
    EndTime,
    Attachments,
    /// ISO 4217 code, which has to be that of the auction.
    Currency,
    /// Low and high estimate in one cell, such as 100-150. Only a mapping has it.
    Estimate,
    /// A result of the sale. Exports have these columns, imports ignore them.
    Result(&'static str),
}

/// Columns of an export of results. An import ignores them, so that an exported file can be imported.
pub(super) const RESULTS: [&str; 6] =
    ["result_status", "result_buyer", "result_hammer", "result_premium", "result_tax", "result_total"];

impl Column {
    pub(super) const ALL: [Self; 26] = [
        Self::LotNumber,
        Self::Title,
        Self::Description,
        Self::Category,
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
        Self::BuyNow,
        Self::FixedIncrement,
        Self::Vendor,
        Self::EndTime,
        Self::Attachments,
        Self::Currency,
        Self::Result(RESULTS[0]),
        Self::Result(RESULTS[1]),
        Self::Result(RESULTS[2]),
        Self::Result(RESULTS[3]),
        Self::Result(RESULTS[4]),
        Self::Result(RESULTS[5]),
    ];

    const REQUIRED: [Self; 2] = [Self::LotNumber, Self::Title];

    /// The names of the fields that a column of a house's file can be mapped to.
    pub(super) fn fields() -> Vec<&'static str> {
        let is_field = |column: &Self| !matches!(column, Self::Result(_));
        Self::ALL.into_iter().filter(is_field).chain([Self::Estimate]).map(Self::name).collect()
    }

    /// The column of a field that a mapping names.
    pub(super) fn mapped(field: &str) -> Option<Self> {
        let columns = Self::ALL.into_iter().chain([Self::Estimate]);
        columns.filter(|column| Self::fields().contains(&column.name())).find(|column| column.name() == field)
    }

    /// True for the name of a column as exports and imports write it.
    pub(super) fn is_name(header: &str) -> bool {
        Self::ALL.iter().any(|column| column.name() == header)
    }

    /// The JSON name of the item's field.
    pub(super) fn json(self) -> &'static str {
        match self {
            Self::LotNumber => "lotNumber",
            Self::Title => "title",
            Self::Description | Self::Artist | Self::Date | Self::Medium | Self::Dimensions | Self::Credit => {
                "description"
            }
            Self::Category => "category",
            Self::ImageUrl => "imageUrl",
            Self::LowEstimate => "lowEstimate",
            Self::HighEstimate => "highEstimate",
            Self::OpeningBid => "openingBid",
            Self::Reserve => "reserve",
            Self::BuyNow => "buyNow",
            Self::FixedIncrement => "fixedIncrement",
            Self::Vendor => "vendor",
            Self::EndTime => "endTime",
            Self::Attachments => "attachments",
            Self::Currency => "currency",
            Self::Estimate => "estimate",
            Self::Result(name) => name,
        }
    }

    /// The name in the header.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::LotNumber => "lot_number",
            Self::Title => "title",
            Self::Description => "description",
            Self::Category => "category",
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
            Self::BuyNow => "buy_now",
            Self::FixedIncrement => "fixed_increment",
            Self::Vendor => "vendor",
            Self::EndTime => "end_time",
            Self::Attachments => "attachments",
            Self::Currency => "currency",
            Self::Estimate => "estimate",
            Self::Result(name) => name,
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
                error(format!("the column {shown} occurs twice: remove one"));
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
    let entered = Column::ALL.into_iter().filter(|column| !matches!(column, Column::Result(_)));
    let all = entered.map(Column::name).collect::<Vec<_>>().join(",");
    if field_count == 1 && (name.contains(';') || name.contains('\t')) {
        return format!("fields are separated by commas, not by semicolons or tabs; the header is {all}");
    }
    if name.is_empty() {
        return "a column has no name: give it one, or remove it".into();
    }
    format!("there is no such column; the columns are {all}")
}
