//! Reads the catalogue and splits it: the first half is for the timed auction, the second half for the webcast.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use platform_core::amounts::CurrencyFormat;

use crate::error::{CommandError, ErrorContext as _};

const BUILT_IN: &str = include_str!("catalogue.csv");

/// A catalogue in two halves, as CSV.
pub(super) struct Catalogue {
    /// The original text, cut after the last lot that is sold. The dry run uses it.
    pub(super) whole: Bytes,
    pub(super) timed: Bytes,
    pub(super) webcast: Bytes,
    pub(super) timed_lots: usize,
    pub(super) webcast_lots: usize,
    /// Reserve of each lot that has one, by lot number, in minor units. No API returns reserves.
    pub(super) reserves: HashMap<String, i64>,
}

/// Reads `file` or the built-in catalogue, and keeps at most `lots` lots.
pub(super) fn read(file: Option<&Path>, lots: Option<u32>) -> Result<Catalogue, CommandError> {
    let text = match file {
        Some(path) => std::fs::read(path).context(format!("reading the catalogue {}", path.display()))?,
        None => BUILT_IN.as_bytes().to_vec(),
    };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_slice());
    let headers = reader.byte_headers().context("reading the catalogue's first line")?.clone();
    let column = |name: &str| headers.iter().position(|header| header == name.as_bytes());
    let (lot_number, reserve) = (column("lot_number"), column("reserve"));
    let limit = lots.map_or(usize::MAX, |lots| lots as usize);

    let pounds = CurrencyFormat::of("GBP");
    let mut rows = Vec::new();
    let mut reserves = HashMap::new();
    for row in reader.byte_records().take(limit) {
        let row = row.context("reading the catalogue")?;
        let field = |index: Option<usize>| {
            index.and_then(|index| row.get(index)).and_then(|field| std::str::from_utf8(field).ok())
        };
        if let (Some(lot), Some(amount)) =
            (field(lot_number), field(reserve).and_then(|text| pounds.read_exported(text.trim()).ok()))
        {
            reserves.insert(lot.trim().to_owned(), amount);
        }
        rows.push(row);
    }
    if rows.len() < 2 {
        return Err(CommandError::new(
            "the catalogue has fewer than two lots. The demonstration needs one for each auction",
        ));
    }
    let (timed, webcast) = rows.split_at(rows.len().div_ceil(2));
    let bytes_kept = usize::try_from(reader.position().byte()).unwrap_or(text.len()).min(text.len());
    Ok(Catalogue {
        whole: text[..bytes_kept].to_vec().into(),
        timed: write(&headers, timed)?,
        webcast: write(&headers, webcast)?,
        timed_lots: timed.len(),
        webcast_lots: webcast.len(),
        reserves,
    })
}

fn write(headers: &csv::ByteRecord, rows: &[csv::ByteRecord]) -> Result<Bytes, CommandError> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in std::iter::once(headers).chain(rows) {
        writer.write_byte_record(row).context("splitting the catalogue")?;
    }
    Ok(writer.into_inner().context("splitting the catalogue")?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogue_is_split_in_two_halves_without_losing_a_lot() {
        let catalogue = read(None, Some(11)).unwrap();
        assert_eq!((catalogue.timed_lots, catalogue.webcast_lots), (6, 5));
        let lots = |half: &Bytes| {
            csv::Reader::from_reader(half.as_ref()).records().map(|row| row.unwrap()[0].to_owned()).collect::<Vec<_>>()
        };
        let halves = [lots(&catalogue.timed), lots(&catalogue.webcast)].concat();
        assert_eq!(halves, lots(&catalogue.whole));
        assert_eq!(halves, (1..=11).map(|lot| lot.to_string()).collect::<Vec<_>>());
        assert_eq!(catalogue.reserves["1"], 7_700);
        assert!(!catalogue.reserves.contains_key("2"));
    }
}
