//! Names that others chose, as parts of a mail.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Characters of a name that a mail contains.
const NAME_CHARS_MAX: usize = 40;
/// Punctuation of a name that no mail program takes for a part of an address.
const PUNCTUATION: &str = "&'’-_,()";

/// A name as part of a mail: short, on one line, and without anything that a mail program makes a link of. The recipient
/// does not know who chose the name, and must not read a message of theirs in a mail of this server.
pub fn plain_name(name: &str) -> String {
    let mut plain = String::new();
    let mut signs = name.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_plain = match sign {
            // As in "St. James", not as in "example.com".
            '.' => signs.peek().is_none_or(|next| next.is_whitespace()),
            sign => {
                use GeneralCategoryGroup::{Letter, Mark, Number};
                PUNCTUATION.contains(sign) || matches!(sign.general_category_group(), Letter | Mark | Number)
            }
        };
        plain.push(if is_plain { sign } else { ' ' });
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    let plain = words.join(" ");
    if plain.chars().count() <= NAME_CHARS_MAX {
        return plain;
    }
    let start: String = plain.chars().take(NAME_CHARS_MAX).collect();
    format!("{}...", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_and_a_message_or_a_link_is_not() {
        for (name, plain) in [
            ("Hartley & Sons (London)", "Hartley & Sons (London)"),
            ("St. James's", "St. James's"),
            ("Müller-Lüdenscheidt 2", "Müller-Lüdenscheidt 2"),
            ("नीलामी घर", "नीलामी घर"),
            ("Pay at https://evil.example/now?a=1", "Pay at https evil example now a 1"),
            ("evil.example", "evil example"),
            ("evil。example", "evil example"),
            ("ann@evil.example", "ann evil example"),
            ("Web site\r\nBcc: a@evil.example", "Web site Bcc a evil example"),
            ("a\u{202e}b\u{200b}c\u{7}", "a b c"),
            ("<b>\"x\"</b>", "b x b"),
            ("//", ""),
        ] {
            assert_eq!(plain_name(name), plain, "{name:?}");
        }
        let long = plain_name(&"Your account was suspended, call us now ".repeat(9));
        assert_eq!(long, "Your account was suspended, call us now...");
    }
}
