//! What is wrong with a field that a bidder filled in, in the language of the page. Use cases name a fault in English; this file knows
//! the beginning of each that a form of the saleroom can show, and a test holds it against the checks.

use platform_words::{Words, key};

/// The beginnings of faults with their messages.
const KNOWN: [(&str, &str); 13] = [
    ("is empty: fill it in", key("fault-empty")),
    ("begins or ends with a blank", key("fault-blank")),
    ("holds a line break", key("fault-control")),
    ("holds the invisible character", key("fault-unseen")),
    ("holds the character @", key("fault-at")),
    ("is missing: the house asks for it", key("fault-phone")),
    ("is missing: the house asks for your address", key("fault-address")),
    ("is not an e-mail address", key("fault-email")),
    ("is not a time zone", key("fault-time-zone")),
    ("is one character again", key("fault-common")),
    ("is the e-mail address, or little more", key("fault-common")),
    ("is one of the most common passwords", key("fault-common")),
    ("is wrong", key("fault-wrong")),
];

/// The fault in the words of the page; one that is not known stays in English.
pub(crate) fn translated(words: Words, fault: &str) -> String {
    let numbers: Vec<&str> =
        fault.split(|char: char| !char.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
    match numbers.as_slice() {
        [chars, most] if fault.starts_with("has ") && fault.contains("shorten it") => {
            words.with("fault-long", [("n", (*chars).into()), ("most", (*most).into())])
        }
        [least, ..] if fault.starts_with("must have at least") => words.fill("fault-short", "least", least),
        _ => {
            let known = KNOWN.iter().find(|(beginning, _)| fault.starts_with(beginning));
            known.map_or_else(|| fault.to_owned(), |(_, message)| words.of(message).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use platform_core::port::Language;

    use super::*;

    #[test]
    fn the_faults_of_forms_are_in_the_language_of_the_page() {
        let german = Words::in_language(Language::German);
        for (fault, shown) in [
            ("has 300 characters: shorten it to at most 200", "hat 300 Zeichen: bitte auf höchstens 200 kürzen"),
            ("must have at least 12 characters and at most 1024 bytes", "muss mindestens 12 Zeichen haben"),
            ("is empty: fill it in", "bitte ausfüllen"),
            ("holds the invisible character U+200B: remove it", "enthält ein unsichtbares Zeichen: bitte entfernen"),
            ("is of another kind", "is of another kind"),
        ] {
            assert_eq!(translated(german, fault), shown);
        }
    }
}
