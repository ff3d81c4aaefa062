//! Amounts as a language writes them, for pages and mails to people: `£1,200`, `1.200 €`, `1 200 €`.

use super::CurrencyFormat;
use crate::port::Language;

impl CurrencyFormat {
    /// The amount with its currency, without decimals where they are zero: `£1,200`, `CHF 25.50`, `1.200 €`.
    pub fn show(&self, minor: i64, language: Language) -> String {
        let (_, decimals) = self.parts(minor);
        self.in_language(minor, language, decimals.bytes().any(|digit| digit != b'0'))
    }

    /// The amount with its currency and all decimals: `£1,200.00`.
    pub fn show_exactly(&self, minor: i64, language: Language) -> String {
        self.in_language(minor, language, true)
    }

    fn in_language(&self, minor: i64, language: Language, has_decimals: bool) -> String {
        let (group, point) = marks(language);
        let (whole, decimals) = self.parts(minor);
        let mut number = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                number.push(group);
            }
            number.push(digit);
        }
        if has_decimals && !decimals.is_empty() {
            number.push(point);
            number.push_str(&decimals);
        }
        let sign = if minor < 0 { "−" } else { "" };
        let name = match self.code() {
            "GBP" => "£",
            "EUR" => "€",
            "USD" => "US$",
            code => code,
        };
        match (language, name) {
            (Language::English, "£" | "€" | "US$") => format!("{sign}{name}{number}"),
            (Language::English, code) => format!("{sign}{code}\u{a0}{number}"),
            (_, name) => format!("{sign}{number}\u{a0}{name}"),
        }
    }
}

/// The marks between thousands and before decimals.
pub fn marks(language: Language) -> (char, char) {
    match language {
        Language::English => (',', '.'),
        Language::French => ('\u{202f}', ','),
        Language::German | Language::Spanish | Language::Italian => ('.', ','),
    }
}
