//! Which formats of a workbook's cells show a number as a date or a time.

use std::collections::HashMap;

use super::archive::Archive;
use super::damaged;
use super::xml::{Next, attribute, is_named};

/// Formats of cells, as spreadsheets limit them.
const FORMATS_MAX: usize = 65_536;

/// How a cell shows its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellFormat {
    Number,
    /// A date, or a time of day.
    Date,
    /// Hours that are counted beyond 24.
    Duration,
}

/// The formats of cells by their numbers.
pub(super) struct CellFormats {
    formats: Vec<CellFormat>,
    /// Days are counted from 1904 instead of 1900.
    pub(super) has_1904_dates: bool,
}

impl CellFormats {
    /// The formats; none when the workbook has no such part.
    pub(super) fn read(archive: &mut Archive, folder: &str, has_1904_dates: bool) -> Result<Self, String> {
        let mut formats = Vec::new();
        let Some(mut part) = archive.part(&format!("{folder}styles.xml"))? else {
            return Ok(Self { formats, has_1904_dates });
        };
        let too_many = || damaged(format!("it has more than {FORMATS_MAX} formats"));
        let mut own: HashMap<String, CellFormat> = HashMap::new();
        let mut cells_from = None;
        loop {
            match part.next()? {
                Next::Start(start) if is_named(&start, "numFmt") => {
                    if let (Some(id), Some(code)) = (attribute(&start, "numFmtId")?, attribute(&start, "formatCode")?) {
                        own.insert(id, format_of_code(&code));
                        if own.len() > FORMATS_MAX {
                            return Err(too_many());
                        }
                    }
                }
                Next::Start(start) if cells_from.is_some() && is_named(&start, "xf") => {
                    if formats.len() == FORMATS_MAX {
                        return Err(too_many());
                    }
                    let id = attribute(&start, "numFmtId")?.unwrap_or_default();
                    formats.push(own.get(&id).copied().unwrap_or_else(|| format_of_number(&id)));
                }
                Next::Start(start) if is_named(&start, "cellXfs") => cells_from = Some(part.depth()),
                Next::End(depth) if cells_from.is_some_and(|from| depth < from) => {
                    // Nothing after the formats of cells is needed.
                    return Ok(Self { formats, has_1904_dates });
                }
                Next::End(0) => return Ok(Self { formats, has_1904_dates }),
                _ => {}
            }
        }
    }

    /// The format of a cell with this number.
    pub(super) fn get(&self, style: Option<&str>) -> CellFormat {
        let place = style.and_then(|style| style.parse::<usize>().ok()).unwrap_or(0);
        // Without a style, a cell has the general format, whatever the first one is.
        style.and_then(|_| self.formats.get(place)).copied().unwrap_or(CellFormat::Number)
    }
}

/// A format that every spreadsheet has (ECMA-376, part 1, 18.8.30), with those of East Asian versions.
fn format_of_number(id: &str) -> CellFormat {
    match id.parse::<u32>() {
        Ok(14..=22 | 27..=36 | 45 | 47 | 50..=58) => CellFormat::Date,
        Ok(46) => CellFormat::Duration,
        _ => CellFormat::Number,
    }
}

/// The format that a code describes in its first section, such as `dd/mm/yyyy`.
fn format_of_code(code: &str) -> CellFormat {
    let mut chars = code.chars();
    // In brackets: the text since the bracket was opened.
    let mut bracket: Option<String> = None;
    let (mut is_quoted, mut after_a) = (false, false);
    while let Some(char) = chars.next() {
        match (char.to_ascii_lowercase(), &mut bracket) {
            // The next character is shown as it is, its width is left blank, or it fills the cell.
            ('_' | '\\' | '*', _) if !is_quoted => drop(chars.next()),
            ('"', _) => is_quoted = !is_quoted,
            (_, _) if is_quoted => {}
            (';', _) => return CellFormat::Number,
            ('[', _) => bracket = Some(String::new()),
            (']', Some(text)) => {
                let first = text.chars().next();
                if first.is_some_and(|first| "hms".contains(first) && text.chars().all(|char| char == first)) {
                    return CellFormat::Duration;
                }
                bracket = None;
            }
            (inner, Some(text)) => text.push(inner),
            ('a', None) => after_a = true,
            // `AM/PM` or `A/P`; an `a` alone is no part of a date.
            ('p' | 'm' | '/', None) if after_a => return CellFormat::Date,
            ('d' | 'm' | 'h' | 'y' | 's', None) if !after_a => return CellFormat::Date,
            _ => {}
        }
    }
    CellFormat::Number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_dates_and_durations_are_recognised() {
        for (code, expected) in [
            ("DD/MM/YY", CellFormat::Date),
            ("H:MM:SS;@", CellFormat::Date),
            ("m\"M\"d\"D\";@", CellFormat::Date),
            ("[$-404]e\"\\xfc\"m\"\\xfc\"d\"\\xfc\"", CellFormat::Date),
            ("ha/p\\\\m", CellFormat::Date),
            ("*-yyyy-mm-dd", CellFormat::Date),
            ("[h]:mm:ss", CellFormat::Duration),
            ("[ss]", CellFormat::Duration),
            ("[s].000", CellFormat::Duration),
            ("[Blue]\\+[h]:mm;[Red]\\-[h]:mm;[Green][h]:mm", CellFormat::Duration),
            ("[>=100][Magenta][s].00", CellFormat::Duration),
            ("#,##0\\ [$\\u20bd-46D]", CellFormat::Number),
            ("\"Y: \"0.00\"m\";\"Y: \"-0.00\"m\";\"Y: <num>m\";@", CellFormat::Number),
            ("#,##0\\ [$''u20bd-46D]", CellFormat::Number),
            ("\"$\"#,##0_);[Red](\"$\"#,##0)", CellFormat::Number),
            ("0_ ;[Red]\\-0\\ ", CellFormat::Number),
            ("\\Y000000", CellFormat::Number),
            ("#,##0.0####\" YMD\"", CellFormat::Number),
            ("[>=100][Magenta].00", CellFormat::Number),
            ("[>=100][Magenta]General", CellFormat::Number),
            ("#,##0.00\\ _M\"H\"_);[Red]#,##0.00\\ _M\"S\"_)", CellFormat::Number),
            ("#,##0*y", CellFormat::Number),
            ("0\"x\"*d", CellFormat::Number),
        ] {
            assert_eq!(format_of_code(code), expected, "{code}");
        }
        assert_eq!(format_of_number("14"), CellFormat::Date);
        assert_eq!(format_of_number("46"), CellFormat::Duration);
        assert_eq!(format_of_number("4"), CellFormat::Number);
    }
}
