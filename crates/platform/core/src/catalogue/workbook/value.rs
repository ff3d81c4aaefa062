//! What a cell holds, in words.

use std::borrow::Cow;

use super::dates::time_text;
use super::formats::{CellFormat, CellFormats};
use super::shared_strings::SharedStrings;
use super::text::{LimitedText, push_unescaped};

/// Significant digits of a number, as spreadsheets keep them.
const DIGITS: usize = 15;
/// Characters of a formula's result that an error shows.
const RESULT_CHARS_MAX: usize = 20;

/// What cells refer to.
#[derive(Clone, Copy)]
pub(super) struct References<'a> {
    pub(super) strings: &'a SharedStrings,
    pub(super) formats: &'a CellFormats,
}

/// The text of a cell with this type and style, whose value is `value`. An error is what is wrong with the cell.
pub(super) fn text<'a>(
    of: References<'a>,
    value: &'a str,
    (cell_type, style): (Option<&str>, Option<&str>),
    unescaped: &'a mut LimitedText,
) -> Result<Cow<'a, str>, String> {
    Ok(match cell_type {
        Some("s") if value.is_empty() => "".into(),
        Some("s") => of.strings.get(value.trim().parse().unwrap_or(0))?.into(),
        Some("b") => boolean(value.trim())?.into(),
        Some("d") => value.into(),
        Some("e") => {
            let result: String = value.chars().take(RESULT_CHARS_MAX).collect();
            return Err(format!("its formula has the result {result}. Correct it, and upload it again."));
        }
        Some("str") => {
            unescaped.clear();
            push_unescaped(unescaped, value)?;
            unescaped.as_str().into()
        }
        Some("n") | None if value.is_empty() => "".into(),
        Some("n") | None => match (value.parse::<f64>(), cell_type) {
            (Ok(number), _) => number_or_time(number, of.formats, style).into(),
            (Err(_), None) => value.into(),
            (Err(_), Some(_)) => return Err("its number can't be read. Save the file as .xlsx or CSV.".to_owned()),
        },
        Some(_) => return Err("its type is unknown. Save the file as .xlsx or CSV.".to_owned()),
    })
}

fn boolean(value: &str) -> Result<&'static str, String> {
    match value {
        "" => Ok(""),
        "0" => Ok("FALSE"),
        "1" => Ok("TRUE"),
        text if text.eq_ignore_ascii_case("false") => Ok("FALSE"),
        text if text.eq_ignore_ascii_case("true") => Ok("TRUE"),
        _ => Err("it is neither true nor false. Save the file as .xlsx or CSV.".to_owned()),
    }
}

fn number_or_time(number: f64, formats: &CellFormats, style: Option<&str>) -> String {
    let time = match formats.get(style) {
        CellFormat::Number => None,
        CellFormat::Date => time_text(number, false, formats.has_1904_dates),
        CellFormat::Duration => time_text(number, true, formats.has_1904_dates),
    };
    time.unwrap_or_else(|| number_text(number))
}

/// A number as a spreadsheet shows it without a format: 0.1 + 0.2 is 0.3.
fn number_text(number: f64) -> String {
    let rounded = format!("{number:.*e}", DIGITS - 1).parse::<f64>().unwrap_or(number);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_a_spreadsheet_shows_them() {
        let shown = [12.0, 0.1 + 0.2, 1_250.5, -3.0, 1e15].map(number_text);
        assert_eq!(shown, ["12", "0.3", "1250.5", "-3", "1000000000000000"]);
    }
}
