//! Escapes cells that a spreadsheet would evaluate as a formula. The export puts an apostrophe before such a cell,
//! which marks it as text, and the import removes it. A cell with apostrophes before a formula gets one more, so that
//! an export and an import give the same text.

/// First characters of a formula, in half and full width. Some programs skip tabs and line breaks before them.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The exported cell.
pub(crate) fn escape_formula(text: &str) -> String {
    if is_dangerous(text.trim_start_matches('\'')) { format!("'{text}") } else { text.to_owned() }
}

/// The cell before the export.
pub(crate) fn unescape_formula(text: &str) -> &str {
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
    fn a_cell_like_a_formula_is_escaped_and_restored() {
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
