//! Cells that a spreadsheet must not take for a formula. One that begins like a formula gets an apostrophe before it,
//! which spreadsheets read as "this is text", and the import takes it away again. A cell that begins with apostrophes
//! and then like a formula gets one more, so that nothing is lost on the way out and back.

/// What a formula begins with, in half and full width; tabs and line breaks are passed over by some programs.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The cell as it is exported.
pub(super) fn escape_formula(text: &str) -> String {
    if is_dangerous(text.trim_start_matches('\'')) { format!("'{text}") } else { text.to_owned() }
}

/// The cell as it was before.
pub(super) fn unescape_formula(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) if is_dangerous(rest.trim_start_matches('\'')) => rest,
        _ => text,
    }
}

fn is_dangerous(text: &str) -> bool {
    text.starts_with(FORMULA_STARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_formula_is_guarded_and_comes_back_as_it_was() {
        for (text, cell) in [
            ("A chair", "A chair"),
            ("=HYPERLINK(\"http://evil\")", "'=HYPERLINK(\"http://evil\")"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("＝1", "'＝1"),
            ("'tis pity", "'tis pity"),
            ("'=1", "''=1"),
            ("''+1", "'''+1"),
            ("", ""),
        ] {
            assert_eq!(escape_formula(text), cell);
            assert_eq!(unescape_formula(cell), text);
        }
    }
}
