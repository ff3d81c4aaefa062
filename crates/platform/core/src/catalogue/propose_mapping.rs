//! Proposes which field each column of a house's file is: the mapping that the customer used last, then headers that
//! houses are known to use.

use std::collections::BTreeMap;

use super::columns::Column;
use super::known_headers::known_column;
use crate::port::ColumnMapping;

/// Columns of a mapping, at most.
pub const MAPPED_COLUMNS_MAX: usize = 500;

impl ColumnMapping {
    /// A mapping of these headers of a catalogue. Errors: the first field that does not exist, or too many columns.
    pub fn new(columns: impl IntoIterator<Item = (String, Option<String>)>) -> Result<Self, String> {
        Self::to_fields(columns, &Column::fields())
    }

    /// A mapping of these headers to some of the fields of a file. Errors as [`ColumnMapping::new`].
    pub(crate) fn to_fields(
        columns: impl IntoIterator<Item = (String, Option<String>)>,
        fields: &[&str],
    ) -> Result<Self, String> {
        let mut mapping = BTreeMap::new();
        for (header, field) in columns {
            if let Some(field) = field.as_deref().filter(|field| !fields.contains(field)) {
                return Err(format!("there is no field {field}; the fields are {}", fields.join(", ")));
            }
            mapping.insert(normalised(&header), field);
            if mapping.len() > MAPPED_COLUMNS_MAX {
                return Err(format!("a mapping has at most {MAPPED_COLUMNS_MAX} columns"));
            }
        }
        Ok(Self(mapping))
    }

    /// The name of the field of a header: none when the mapping does not name the header, an inner none when it is ignored.
    pub(crate) fn field(&self, header: &str) -> Option<Option<&str>> {
        self.0.get(&normalised(header)).map(Option::as_deref)
    }

    /// The field of a header: none when the mapping does not name the header, an inner none when it is ignored.
    pub(super) fn column(&self, header: &str) -> Option<Option<Column>> {
        self.field(header).map(|field| field.and_then(Column::mapped))
    }

    /// This mapping with the columns of a later one.
    pub(crate) fn with(mut self, later: &Self) -> Self {
        for (header, field) in &later.0 {
            if self.0.len() < MAPPED_COLUMNS_MAX || self.0.contains_key(header) {
                self.0.insert(header.clone(), field.clone());
            }
        }
        self
    }
}

/// The names of the fields that a column can be mapped to.
pub fn mappable_fields() -> Vec<&'static str> {
    Column::fields()
}

/// The proposed field of each header, in their order; none for a column to ignore. Each field is proposed once, except
/// for the description, which can come from several columns.
pub(super) fn propose_mapping(headers: &[String], remembered: &ColumnMapping) -> Vec<(String, Option<&'static str>)> {
    let mut taken = Vec::new();
    let mut proposed = Vec::with_capacity(headers.len());
    for header in headers {
        let column = remembered.column(header).unwrap_or_else(|| known_column(header));
        let column = column.filter(|column| *column == Column::Description || !taken.contains(column));
        taken.extend(column);
        proposed.push((header.clone(), column.map(Column::name)));
    }
    proposed
}

/// Lower case letters and digits only.
pub(crate) fn normalised(header: &str) -> String {
    header.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_houses_are_known_and_others_are_ignored() {
        let headers = [
            "Lot #",
            "Lead",
            "Full Description",
            "Condition",
            "LowEst",
            "HighEst",
            "Start Bid",
            "Reserve Price",
            "Consignor",
            "Lot",
        ];
        let headers: Vec<String> = headers.into_iter().map(str::to_owned).collect();
        let fields: Vec<_> =
            propose_mapping(&headers, &ColumnMapping::default()).into_iter().map(|(_, field)| field).collect();
        let expected = [
            Some("lot_number"),
            Some("title"),
            Some("description"),
            Some("description"),
            Some("low_estimate"),
            Some("high_estimate"),
            Some("opening_bid"),
            Some("reserve"),
            Some("vendor"),
            None,
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn a_remembered_column_is_proposed_first() {
        let remembered =
            ColumnMapping::new([("Lead".to_owned(), None), ("Objet".to_owned(), Some("title".to_owned()))]).unwrap();
        let headers = ["lead", "OBJET", "estimate"].map(str::to_owned);
        let fields: Vec<_> = propose_mapping(&headers, &remembered).into_iter().map(|(_, field)| field).collect();
        assert_eq!(fields, [None, Some("title"), Some("estimate")]);
        assert!(ColumnMapping::new([("Lead".to_owned(), Some("price".to_owned()))]).is_err());
    }
}
