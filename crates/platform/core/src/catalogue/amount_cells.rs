//! The amounts of a house's file: how the text of a cell is read, and which readings are doubtful.

use super::cells::CellValue;
use super::columns::Column;
use super::house_rows::HouseFormat;
use crate::amounts::DecimalMark;

/// An amount that is as many times another one of its lot is far from it.
const FAR_TIMES: i64 = 100;
/// Digits of a group of thousands.
const THOUSANDS_DIGITS: usize = 3;

/// Reads the amounts of a file.
pub(super) struct AmountReader<'a> {
    format: &'a HouseFormat,
    /// The file has no other headers than exports and imports have, and no decimal mark was named.
    is_exported: bool,
}

impl<'a> AmountReader<'a> {
    pub(super) fn new(headers: &[String], format: &'a HouseFormat) -> Self {
        let is_exported = format.decimal_mark.is_none() && headers.iter().all(|header| Column::is_name(header));
        Self { format, is_exported }
    }

    /// Reads the amount of a cell.
    pub(super) fn read(&self, text: &str, is_quoted: bool) -> Result<i64, String> {
        let HouseFormat { currency, decimal_mark, .. } = self.format;
        let mark = if self.is_number(text, is_quoted) { Some(DecimalMark::Point) } else { *decimal_mark };
        let read = if self.is_exported { currency.read_exported(text) } else { currency.read(text, mark) };
        read.map_err(|error| {
            let instead = if error.is_ambiguous { " Or choose the decimal mark of the file." } else { "" };
            format!("{error}{instead}")
        })
    }

    /// Reads the amount of a cell with the mark that was not chosen for the file.
    pub(super) fn read_with_other_mark(&self, text: &str, is_quoted: bool) -> Result<i64, String> {
        let HouseFormat { currency, decimal_mark, .. } = self.format;
        let mark = decimal_mark.filter(|_| !self.is_number(text, is_quoted)).ok_or("has one reading")?;
        currency.read(text, Some(mark.other())).map_err(|error| error.to_string())
    }

    /// True if a reading with the other mark is likelier than the one with the chosen mark. In most currencies, no amount has
    /// three decimals, so the chosen mark took thousands for decimals. In a currency with three decimals, the chosen reading
    /// is more than 100 times away from each other amount of the lot, and the other reading is not.
    pub(super) fn is_likelier(&self, other: CellValue, chosen: CellValue, rest: &[i64]) -> bool {
        let pairs: Vec<(i64, i64)> = other.amounts().into_iter().zip(chosen.amounts()).collect();
        if self.format.currency.digits() < THOUSANDS_DIGITS {
            return pairs.iter().any(|(other, chosen)| chosen < other);
        }
        let rest: Vec<i64> = rest.iter().copied().filter(|amount| *amount > 0).collect();
        let is_likelier = |(other, chosen): &(i64, i64)| {
            rest.iter().all(|amount| is_far(*chosen, *amount) && !is_far(*other, *amount))
        };
        !rest.is_empty() && pairs.iter().any(is_likelier)
    }

    /// True for a number in a cell of a sheet, which has a point before its decimals: it has no quotes.
    fn is_number(&self, text: &str, is_quoted: bool) -> bool {
        self.format.is_sheet && !is_quoted && text.contains('.')
    }
}

fn is_far(one: i64, another: i64) -> bool {
    one.max(another) > one.min(another).saturating_mul(FAR_TIMES)
}
