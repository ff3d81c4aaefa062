//! The beginning of a house's file: its headers and first rows, for a person who maps the columns.

use std::io::Read;

use super::house_rows::{header_texts, house_records};
use crate::config::CatalogueLimits;

/// Rows of a sample.
const ROWS_MAX: usize = 5;
/// Characters of a cell in a sample.
const CELL_CHARS_MAX: usize = 60;

/// The headers and first rows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueSample {
    /// The headers.
    pub headers: Vec<String>,
    /// The cells of the first five rows, each with its first 60 characters.
    pub rows: Vec<Vec<String>>,
}

impl CatalogueSample {
    /// Reads the beginning of a file in any encoding and with any separator. An error is for the person who chose it.
    pub fn read(source: impl Read, limits: &CatalogueLimits) -> Result<Self, String> {
        let unreadable = |error| format!("the file can't be read: {error}");
        let mut records = house_records(source, limits).map_err(unreadable)?;
        let header = records.next().map_err(unreadable)?;
        let header = header.ok_or("the file is empty: write a header, and a row for each lot")?;
        let mut rows = Vec::new();
        while rows.len() < ROWS_MAX
            && let Some(record) = records.next().map_err(unreadable)?
        {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().chars().take(CELL_CHARS_MAX).collect();
            rows.push(record.fields.iter().map(|field| text(&field.bytes)).collect());
        }
        Ok(Self { headers: header_texts(&header), rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_headers_and_the_first_rows() {
        let limits = CatalogueLimits::default();
        let file = b"Lot No;Lead\n1;Caf\xe9 clock\n2;\"A; B\"\n3;c\n4;d\n5;e\n6;f\n";
        let sample = CatalogueSample::read(&file[..], &limits).unwrap();
        assert_eq!(sample.headers, ["Lot No", "Lead"]);
        assert_eq!(sample.rows.len(), ROWS_MAX);
        assert_eq!((sample.rows[0][1].as_str(), sample.rows[1][1].as_str()), ("Caf\u{e9} clock", "A; B"));
        assert!(CatalogueSample::read(&b""[..], &limits).is_err());
    }
}
