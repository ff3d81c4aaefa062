//! Amounts of a currency, as pages show them and as people type them.

use platform_core::amounts::{CurrencyFormat, DecimalMark};
use platform_rules::Auction;

/// A currency whose amounts a page shows and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Currency(CurrencyFormat);

impl Currency {
    /// The currency of an auction.
    pub fn of(auction: &Auction) -> Self {
        Self::new(&auction.currency)
    }

    /// The currency with this ISO 4217 code.
    pub fn new(code: &str) -> Self {
        Self(CurrencyFormat::of(code))
    }

    /// ISO 4217 code.
    pub fn code(&self) -> &str {
        self.0.code()
    }

    /// Minor units of one major unit: 100 pence of a pound, 1 yen.
    pub fn minor_units(&self) -> i64 {
        (0..self.0.digits()).fold(1, |units, _| units * 10)
    }

    /// The amount with its currency, without decimals where they are zero: `£1,200`, `CHF 25.50`.
    pub fn show(&self, minor: i64) -> String {
        let exact = self.exact(minor);
        match exact.split_once('.') {
            Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole.to_owned(),
            _ => exact,
        }
    }

    /// The amount with its currency and all decimals: `£1,200.00`.
    pub fn exact(&self, minor: i64) -> String {
        let (whole, decimals) = self.0.parts(minor);
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let sign = if minor < 0 { "−" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        match self.code() {
            "GBP" => format!("{sign}£{grouped}{point}{decimals}"),
            "EUR" => format!("{sign}€{grouped}{point}{decimals}"),
            "USD" => format!("{sign}US${grouped}{point}{decimals}"),
            code => format!("{sign}{code}\u{a0}{grouped}{point}{decimals}"),
        }
    }

    /// The amount as a field of a form has it: `1200`, `25.50`.
    pub fn plain(&self, minor: i64) -> String {
        let (whole, decimals) = self.0.parts(minor);
        let sign = if minor < 0 { "-" } else { "" };
        if decimals.bytes().all(|digit| digit == b'0') {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{decimals}")
        }
    }

    /// Reads an amount as people write it ([`CurrencyFormat::read`]). In a currency of three decimals, a single point is the
    /// decimal point that pages show.
    pub fn parse(&self, text: &str) -> Result<i64, String> {
        let mark = (self.0.digits() > 2 && !text.contains(',')).then_some(DecimalMark::Point);
        self.0.read(text, mark).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_with_their_currency() {
        let (pounds, yen, francs) = (Currency::new("GBP"), Currency::new("JPY"), Currency::new("CHF"));
        assert_eq!([pounds.show(120_000), pounds.show(2_550), pounds.show(5)], ["£1,200", "£25.50", "£0.05"]);
        assert_eq!([pounds.exact(120_000), yen.show(1_234_567)], ["£1,200.00", "JPY\u{a0}1,234,567"]);
        assert_eq!([francs.exact(99), pounds.exact(-150)], ["CHF\u{a0}0.99", "−£1.50"]);
        assert_eq!([pounds.plain(120_000), pounds.plain(2_550), yen.plain(25)], ["1200", "25.50", "25"]);
    }

    #[test]
    fn amounts_are_read_as_pages_show_them() {
        let [pounds, yen, dinars] = ["GBP", "JPY", "KWD"].map(Currency::new);
        assert_eq!(["1,200", "1.200,50", "£25"].map(|text| pounds.parse(text)), [Ok(120_000), Ok(120_050), Ok(2_500)]);
        assert_eq!([dinars.parse("12.505"), dinars.parse(&dinars.plain(1_500))], [Ok(12_505), Ok(1_500)]);
        assert_eq!([yen.parse("1,200"), yen.parse("1.200")], [Ok(1_200), Ok(1_200)]);
        for (currency, text) in [(&pounds, "1.200"), (&pounds, "12.505"), (&dinars, "12,505"), (&yen, "12.50")] {
            assert!(currency.parse(text).is_err(), "{text}");
        }
    }
}
