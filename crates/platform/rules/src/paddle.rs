//! Paddles: the names of bidders in an auction. Two paddles must not look the same on a screen, so a paddle has no
//! invisible characters, one way to write it, and letters of one script only. Two paddles that are each of one script,
//! such as a Latin and a Cyrillic `A`, can still look the same; the person who assigns paddles sees to that.

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use unicode_security::MixedScript as _;

use crate::Rejection;

/// Characters of a paddle, at most.
pub const BIDDER_CHARS_MAX: usize = 64;

/// What is wrong with a paddle, as text after its field name; none when it is valid.
pub fn paddle_problem(paddle: &str) -> Option<&'static str> {
    if paddle.is_empty() || paddle.chars().count() > BIDDER_CHARS_MAX {
        return Some("must have 1 to 64 characters");
    }
    if paddle.starts_with(char::is_whitespace) || paddle.ends_with(char::is_whitespace) || paddle.contains("  ") {
        return Some("must not begin or end with a space, or have two spaces in a row");
    }
    // Fast path: most paddles are ASCII digits.
    if paddle.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return None;
    }
    if !paddle.chars().all(is_visible) {
        return Some("must have no invisible character, such as a control character or a zero-width space");
    }
    if !is_nfkc(paddle) {
        return Some("must be in Unicode normalization form NFKC, such as 7 instead of \u{ff17}");
    }
    // UTS #39, section 5.1. Digits and punctuation belong to every script; Japanese and Korean each count as one
    // script.
    (!paddle.is_single_script())
        .then_some("must have letters of one script only: it mixes scripts, such as Latin A and Cyrillic \u{410}")
}

/// The paddle of a bid; none for the empty one of a bidder in the room whose paddle the clerk does not know yet.
pub fn known_paddle(paddle: &str) -> Option<&str> {
    Some(paddle).filter(|paddle| !paddle.is_empty())
}

/// Rejects an invalid paddle.
pub(crate) fn require_name(paddle: &str) -> Result<(), Rejection> {
    paddle_problem(paddle).map_or(Ok(()), |problem| Err(Rejection::FieldInvalid { field: "bidder", problem }))
}

fn is_nfkc(paddle: &str) -> bool {
    match is_nfkc_quick(paddle.chars()) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => paddle.nfkc().eq(paddle.chars()),
    }
}

/// True when the character has a visible glyph, or is the plain space.
fn is_visible(char: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate, Unassigned,
    };
    let is_invisible = match char.general_category() {
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Surrogate | Unassigned => true,
        SpaceSeparator => char != ' ',
        _ => false,
    };
    !is_invisible && !is_default_ignorable(char)
}

/// Characters of other categories without a glyph: Unicode's `Default_Ignorable_Code_Point`, and the blank Braille
/// pattern.
fn is_default_ignorable(char: char) -> bool {
    matches!(char,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_characters_of_any_script_make_a_valid_paddle() {
        for paddle in ["1", "012", "12A", "A 7", "T-17/b", "Żółć", "é", "Мария", "入札 7", "נועה", "~", "१२"]
        {
            assert_eq!(paddle_problem(paddle), None, "{paddle:?}");
        }
        assert_eq!(paddle_problem(&"é".repeat(BIDDER_CHARS_MAX)), None);
        assert!(paddle_problem(&"é".repeat(BIDDER_CHARS_MAX + 1)).is_some());
    }

    #[test]
    fn invisible_characters_and_extra_spaces_are_rejected() {
        let invisible = [
            "",
            " ",
            " 77",
            "77 ",
            "77\u{a0}",
            "7\u{a0}7",
            "7\u{2003}7",
            "7  7",
            "7\t7",
            "77\n",
            "77\u{0}",
            "77\u{7f}",
            "77\u{85}",
            "77\u{ad}",
            "77\u{200b}",
            "\u{200d}77",
            "\u{202e}77",
            "77\u{2066}",
            "77\u{2028}",
            "77\u{2060}",
            "\u{feff}77",
            "77\u{fe0f}",
            "77\u{34f}",
            "77\u{3164}",
            "77\u{115f}",
            "77\u{2800}",
            "77\u{180e}",
            "77\u{e0041}",
            "77\u{e0100}",
            "77\u{e000}",
            "77\u{378}",
            "77\u{fff9}",
            "77\u{1d173}",
        ];
        for paddle in invisible {
            assert!(paddle_problem(paddle).is_some(), "{paddle:?}");
            assert!(require_name(paddle).is_err());
        }
    }

    #[test]
    fn letters_of_two_scripts_are_rejected() {
        for mixed in ["A\u{410}", "\u{410}12A", "p\u{430}ddle", "A\u{391}", "\u{41c}ария V", "A入札"] {
            assert!(paddle_problem(mixed).is_some_and(|problem| problem.contains("mixes scripts")), "{mixed:?}");
            assert!(require_name(mixed).is_err());
        }
        for single in ["A12", "\u{410}12", "Μαρία-7", "入札くらカナ", "한국 漢字", "7/8", "١٢", "נועה 7"]
        {
            assert_eq!(paddle_problem(single), None, "{single:?}");
        }
    }

    #[test]
    fn a_paddle_must_be_in_nfkc() {
        for (other, nfkc) in [("\u{ff17}\u{ff17}", "77"), ("7\u{2077}", "77"), ("e\u{301}", "é"), ("\u{fb01}", "fi")] {
            assert!(paddle_problem(other).is_some_and(|problem| problem.contains("NFKC")), "{other:?}");
            assert_eq!(other.nfkc().collect::<String>(), nfkc);
            assert_eq!(paddle_problem(nfkc), None, "{nfkc:?}");
        }
    }
}
