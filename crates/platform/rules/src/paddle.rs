//! Paddles: what bidders are named by. Who reads one on a screen must know which one it is, so two that look the same because of
//! what is not seen can't be two. (Letters of different scripts that resemble each other are seen by whoever gives out paddles.)

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

use crate::Rejection;

/// Characters of a bidder's name or paddle, at most.
pub const BIDDER_CHARS_MAX: usize = 64;

/// What is wrong with a paddle; none when it can stand in a record.
pub fn paddle_problem(paddle: &str) -> Option<&'static str> {
    if paddle.is_empty() || paddle.chars().count() > BIDDER_CHARS_MAX {
        return Some("must have 1 to 64 characters");
    }
    if paddle.starts_with(char::is_whitespace) || paddle.ends_with(char::is_whitespace) || paddle.contains("  ") {
        return Some("must have no blank at its ends, and one at a time elsewhere");
    }
    // Most are numbers.
    if paddle.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return None;
    }
    if !paddle.chars().all(is_visible) {
        return Some("must have no character that is not seen, such as a control character or one without a width");
    }
    (!is_plain(paddle)).then_some("must be written in its plain form (Unicode NFKC), such as 7 instead of \u{ff17}")
}

/// A name that can stand in a record.
pub(crate) fn require_name(paddle: &str) -> Result<(), Rejection> {
    paddle_problem(paddle).map_or(Ok(()), |problem| Err(Rejection::FieldInvalid { field: "bidder", problem }))
}

fn is_plain(paddle: &str) -> bool {
    match is_nfkc_quick(paddle.chars()) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => paddle.nfkc().eq(paddle.chars()),
    }
}

/// If a reader sees it, or sees the blank that it is.
fn is_visible(char: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate, Unassigned,
    };
    let is_blank = match char.general_category() {
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Surrogate | Unassigned => true,
        SpaceSeparator => char != ' ',
        _ => false,
    };
    !is_blank && !is_default_ignorable(char)
}

/// Letters, marks and signs that are drawn as nothing: those that Unicode says are passed over by default, and an empty pattern.
fn is_default_ignorable(char: char) -> bool {
    matches!(char,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_seen_can_be_a_paddle() {
        for paddle in ["1", "012", "12A", "A 7", "T-17/b", "Żółć", "é", "Мария", "入札 7", "נועה", "~", "१२"]
        {
            assert_eq!(paddle_problem(paddle), None, "{paddle:?}");
        }
        assert_eq!(paddle_problem(&"é".repeat(BIDDER_CHARS_MAX)), None);
        assert!(paddle_problem(&"é".repeat(BIDDER_CHARS_MAX + 1)).is_some());
    }

    #[test]
    fn what_is_not_seen_makes_no_other_paddle() {
        let unseen = [
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
        for paddle in unseen {
            assert!(paddle_problem(paddle).is_some(), "{paddle:?}");
            assert!(require_name(paddle).is_err());
        }
    }

    #[test]
    fn one_paddle_is_written_one_way() {
        for (other, plain) in [("\u{ff17}\u{ff17}", "77"), ("7\u{2077}", "77"), ("e\u{301}", "é"), ("\u{fb01}", "fi")]
        {
            assert!(paddle_problem(other).is_some_and(|problem| problem.contains("NFKC")), "{other:?}");
            assert_eq!(other.nfkc().collect::<String>(), plain);
            assert_eq!(paddle_problem(plain), None, "{plain:?}");
        }
    }
}
