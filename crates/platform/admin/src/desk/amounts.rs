//! Amounts as the desk writes them: with the sign of the currency, and without decimals that are zero.

use contract::models::CurrencyCode;
use serde::Serialize;

/// Writes the amounts of one currency.
#[derive(Debug, Clone)]
pub(crate) struct Money {
    sign: String,
    digits: u32,
}

/// An amount with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Amount {
    /// Minor units.
    pub(crate) minor: i64,
    /// For people, such as `£1,250` or `£12.50`.
    pub(crate) text: String,
}

impl Money {
    /// Amounts of the currency with this ISO 4217 code.
    pub(crate) fn of(currency: &str) -> Self {
        let sign = match currency {
            "GBP" => "£".to_owned(),
            "EUR" => "€".to_owned(),
            "USD" => "US$".to_owned(),
            other => format!("{other}\u{a0}"),
        };
        let code: Option<CurrencyCode> = currency.parse().ok();
        Self { sign, digits: code.and_then(|code| code.minor_digits()).unwrap_or(0) }
    }

    /// The sign before an amount.
    pub(crate) fn sign(&self) -> &str {
        &self.sign
    }

    /// Decimal digits of the minor unit.
    pub(crate) fn digits(&self) -> u32 {
        self.digits
    }

    pub(crate) fn amount(&self, minor: i64) -> Amount {
        Amount { minor, text: self.text(minor) }
    }

    pub(crate) fn text(&self, minor: i64) -> String {
        format!("{}{}", self.sign, self.plain(minor))
    }

    /// `£800–1,200`, or the one of them that exists.
    pub(crate) fn range(&self, low: Option<i64>, high: Option<i64>) -> Option<String> {
        match (low, high) {
            (Some(low), Some(high)) if low != high => Some(format!("{}–{}", self.text(low), self.plain(high))),
            (low, high) => low.or(high).map(|one| self.text(one)),
        }
    }

    fn plain(&self, minor: i64) -> String {
        let unit = 10_u64.checked_pow(self.digits).unwrap_or(1);
        let (whole, rest) = (minor.unsigned_abs() / unit, minor.unsigned_abs() % unit);
        let digits = whole.to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 4);
        if minor < 0 {
            text.push('-');
        }
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        if rest > 0 {
            text.push_str(&format!(".{rest:0width$}", width = self.digits as usize));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_and_have_decimals_only_when_needed() {
        let pounds = Money::of("GBP");
        for (minor, text) in [
            (0, "£0"),
            (5, "£0.05"),
            (1_250, "£12.50"),
            (85_000, "£850"),
            (123_456_700, "£1,234,567"),
            (-100_005, "£-1,000.05"),
        ] {
            assert_eq!(pounds.text(minor), text);
        }
        assert_eq!(Money::of("JPY").text(1_250), "JPY\u{a0}1,250");
        assert_eq!(Money::of("KWD").text(1_500), "KWD\u{a0}1.500");
    }

    #[test]
    fn an_estimate_names_both_ends_once() {
        let pounds = Money::of("GBP");
        assert_eq!(pounds.range(Some(80_000), Some(120_000)).as_deref(), Some("£800–1,200"));
        assert_eq!(pounds.range(None, Some(500)).as_deref(), Some("£5"));
        assert_eq!(pounds.range(Some(500), Some(500)).as_deref(), Some("£5"));
        assert_eq!(pounds.range(None, None), None);
    }
}
