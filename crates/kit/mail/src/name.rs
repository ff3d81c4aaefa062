//! Names and titles that others chose, as parts of a mail.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Characters of a name that a mail contains.
const NAME_CHARS_MAX: usize = 40;
/// Punctuation of a name that no mail program takes for a part of an address.
const PUNCTUATION: &str = "&'’-_,()";

/// Characters of a title that a mail contains.
const TITLE_CHARS_MAX: usize = 120;

/// A title as part of a mail: on one line, not long, and without anything that a mail program makes a link of. Other signs stay.
pub fn plain_title(title: &str) -> String {
    let mut plain = String::new();
    let mut before = ' ';
    let mut signs = title.chars();
    while let Some(sign) = signs.next() {
        // Browsers ignore marks between a dot and the next letter.
        let next = signs.clone().find(|sign| sign.general_category_group() != GeneralCategoryGroup::Mark);
        let next = next.unwrap_or(' ');
        let is_part_of_link = match sign {
            '@' | '\\' | '<' | '>' => true,
            '/' => !next.is_whitespace(),
            // As in "St. James" and "9.30", not as in "example.com".
            '.' => next.is_alphanumeric() && !(before.is_ascii_digit() && next.is_ascii_digit()),
            // As in "Part 2: silver" and "19:30", not as in "tel:1".
            ':' => !(next.is_whitespace() || before.is_ascii_digit() && next.is_ascii_digit()),
            sign => {
                use GeneralCategoryGroup::{Other, Separator};
                is_full_stop(sign) || matches!(sign.general_category_group(), Other | Separator)
            }
        };
        plain.push(if is_part_of_link { ' ' } else { sign });
        before = sign;
    }
    shortened(&plain, TITLE_CHARS_MAX)
}

/// Full stops of other scripts, which browsers take for a dot of a domain name (UTS 46).
fn is_full_stop(sign: char) -> bool {
    matches!(sign, '\u{3002}' | '\u{ff0e}' | '\u{ff61}' | '\u{2024}' | '\u{fe52}')
}

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
    shortened(&plain, NAME_CHARS_MAX)
}

/// The words with one space between them, cut after this number of characters.
fn shortened(text: &str, chars_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    if words.chars().count() <= chars_max {
        return words;
    }
    let start: String = words.chars().take(chars_max).collect();
    format!("{}...", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_kept_and_a_link_is_not() {
        for (title, plain) in [
            ("Art & Silver: the Hartley collection, part 2!", "Art & Silver: the Hartley collection, part 2!"),
            ("“St. James’s” – lots 1–200 (19:30, No. 9.30)", "“St. James’s” – lots 1–200 (19:30, No. 9.30)"),
            ("Alte Meister / Gemälde", "Alte Meister / Gemälde"),
            ("Pay now: https://evil.example/now?a=1", "Pay now: https evil example now?a=1"),
            ("www.evil.example", "www evil example"),
            ("evil.\u{fe0f}example", "evil \u{fe0f}example"),
            ("EVIL。example evil．example", "EVIL example evil example"),
            ("192.168.0.1 a@evil.example", "192.168.0.1 a evil example"),
            ("mailto:ann tel:+441", "mailto ann tel +441"),
            ("Silver\r\nBcc: x\u{202e}y\u{200b}\u{2028}z\u{7}", "Silver Bcc: x y z"),
            ("<a href=\"x\">b</a>", "a href=\"x\" b a"),
        ] {
            assert_eq!(plain_title(title), plain, "{title:?}");
        }
        assert_eq!(plain_title(&"a".repeat(121)), format!("{}...", "a".repeat(120)));
    }

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
