//! Texts of cells within their limit.

use super::{CELL_CHARS_MAX, damaged};

/// Characters of an escape such as `_x000D_`.
const ESCAPE_CHARS: usize = 7;

/// A text that grows up to the characters of a cell, each of which may be escaped.
#[derive(Default)]
pub(super) struct LimitedText {
    text: String,
    chars: usize,
}

impl LimitedText {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.chars = 0;
    }

    pub(super) fn push_str(&mut self, part: &str) -> Result<(), String> {
        self.chars = self.chars.saturating_add(part.chars().count());
        if self.chars > CELL_CHARS_MAX * ESCAPE_CHARS {
            return Err(too_long());
        }
        self.text.push_str(part);
        Ok(())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Adds a text without its escapes to the text of a cell, which stays within its limit.
pub(super) fn push_unescaped(cell: &mut LimitedText, escaped: &str) -> Result<(), String> {
    let mut rest = escaped;
    while let Some(at) = rest.find('_') {
        let (before, from) = rest.split_at(at);
        cell.push_str(before)?;
        match escape(from) {
            Some((char, after)) => {
                cell.push_str(char.encode_utf8(&mut [0; 4]))?;
                rest = after;
            }
            None => {
                cell.push_str("_")?;
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    cell.push_str(rest)?;
    if cell.chars > CELL_CHARS_MAX { Err(too_long()) } else { Ok(()) }
}

/// The character that a text begins with as an escape of one or two UTF-16 units, and the text after it.
fn escape(text: &str) -> Option<(char, &str)> {
    let (first, rest) = unit(text)?;
    if let Some(char) = char::from_u32(u32::from(first)) {
        return Some((char, rest));
    }
    if let Some((second, after)) = unit(rest)
        && let Some(Ok(char)) = char::decode_utf16([first, second]).next()
    {
        return Some((char, after));
    }
    Some((char::REPLACEMENT_CHARACTER, rest))
}

/// The UTF-16 unit that a text begins with as `_x000D_`, and the text after it.
fn unit(text: &str) -> Option<(u16, &str)> {
    let (digits, after) = text.strip_prefix("_x")?.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?, after.strip_prefix('_')?))
}

fn too_long() -> String {
    damaged(format!("a cell of it has more than {CELL_CHARS_MAX} characters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescaped(text: &str) -> Result<String, String> {
        let mut cell = LimitedText::default();
        push_unescaped(&mut cell, text)?;
        Ok(cell.text)
    }

    #[test]
    fn escapes_are_resolved_and_other_underscores_stay() {
        for (escaped, expected) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xD83D__xDCF7_!", "\u{1f4f7}!"),
            ("_xD83D_", "\u{fffd}"),
            ("_xDCF7__xD83D_", "\u{fffd}\u{fffd}"),
            ("lot_x1_ _x00G0_ _", "lot_x1_ _x00G0_ _"),
            ("_x+123_é_", "_x+123_é_"),
        ] {
            assert_eq!(unescaped(escaped).unwrap(), expected, "{escaped}");
        }
    }

    #[test]
    fn a_cell_has_32767_characters_at_most() {
        assert!(unescaped(&"é".repeat(CELL_CHARS_MAX)).is_ok());
        assert!(unescaped(&"_x0041_".repeat(CELL_CHARS_MAX)).is_ok());
        assert!(unescaped(&"é".repeat(CELL_CHARS_MAX + 1)).unwrap_err().contains("32767 characters"));
        assert!(unescaped(&"_x0041_".repeat(CELL_CHARS_MAX + 1)).is_err());
    }
}
