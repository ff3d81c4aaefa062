//! Amounts of a currency, as pages show them and as people type them.

use contract::models::CurrencyCode;
use platform_rules::Auction;

/// A currency whose amounts a page shows and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Currency {
    code: String,
    /// Decimal digits of its minor unit.
    digits: usize,
}

impl Currency {
    /// The currency of an auction.
    pub(crate) fn of(auction: &Auction) -> Self {
        Self::new(&auction.currency)
    }

    pub(crate) fn new(code: &str) -> Self {
        let digits = code.parse::<CurrencyCode>().ok().and_then(|code| code.minor_digits());
        Self { code: code.to_owned(), digits: digits.map_or(2, |digits| digits as usize) }
    }

    /// ISO 4217 code.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// The amount with its currency, without decimals where they are zero: `£1,200`, `CHF 25.50`.
    pub(crate) fn show(&self, minor: i64) -> String {
        let exact = self.exact(minor);
        match exact.split_once('.') {
            Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole.to_owned(),
            _ => exact,
        }
    }

    /// The amount with its currency and all decimals: `£1,200.00`.
    pub(crate) fn exact(&self, minor: i64) -> String {
        let (whole, decimals) = self.parts(minor);
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let sign = if minor < 0 { "−" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        match self.code.as_str() {
            "GBP" => format!("{sign}£{grouped}{point}{decimals}"),
            "EUR" => format!("{sign}€{grouped}{point}{decimals}"),
            "USD" => format!("{sign}US${grouped}{point}{decimals}"),
            code => format!("{sign}{code}\u{a0}{grouped}{point}{decimals}"),
        }
    }

    /// The amount as a field of a form has it: `1200`, `25.50`.
    pub(crate) fn plain(&self, minor: i64) -> String {
        let (whole, decimals) = self.parts(minor);
        let sign = if minor < 0 { "-" } else { "" };
        if decimals.bytes().all(|digit| digit == b'0') {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{decimals}")
        }
    }

    fn parts(&self, minor: i64) -> (String, String) {
        let digits = format!("{:0>1$}", minor.unsigned_abs(), self.digits + 1);
        let (whole, decimals) = digits.split_at(digits.len() - self.digits);
        (whole.to_owned(), decimals.to_owned())
    }

    /// Reads an amount as people write it: `25`, `25.00`, `25,00`, `1,200`, `1.200,50`, `£25.00`, `GBP 25`. A single point before
    /// three digits is refused where it could be a decimal point with one digit too many: `12.505` is not £12,505.
    pub(crate) fn parse(&self, text: &str) -> Result<i64, String> {
        let wrong = || {
            let example = if self.digits == 0 { "1200".to_owned() } else { "1200.50".to_owned() };
            format!(
                "“{}” is not an amount. Write it such as {example}.",
                text.trim().chars().take(40).collect::<String>()
            )
        };
        let bare: String = text
            .trim()
            .trim_start_matches(&self.code)
            .trim_end_matches(&self.code)
            .chars()
            .filter(|char| !char.is_whitespace() && !"£€$¥'’".contains(*char))
            .collect();
        let decimals_at = bare.rfind(['.', ',']).filter(|at| {
            let mark = &bare[*at..=*at];
            let length = bare.len() - at - 1;
            bare.matches(mark).count() == 1 && (1..=self.digits).contains(&length)
        });
        let is_one_point = bare.matches('.').count() == 1 && !bare.contains(',');
        if self.digits > 0 && decimals_at.is_none() && is_one_point {
            return Err(format!(
                "\u{201c}{}\u{201d} can be read in two ways. Write at most {} decimals, and thousands without a point.",
                text.trim().chars().take(40).collect::<String>(),
                self.digits
            ));
        }
        let (whole, decimals) = decimals_at.map_or((bare.as_str(), ""), |at| (&bare[..at], &bare[at + 1..]));
        let mut groups = whole.split(['.', ',']);
        let first = groups.next().unwrap_or_default();
        let mut joined = first.to_owned();
        for group in groups {
            if group.len() != 3 || first.len() > 3 {
                return Err(wrong());
            }
            joined.push_str(group);
        }
        let padding = "0".repeat(self.digits - decimals.len());
        let digits = format!("{joined}{decimals}{padding}");
        if first.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        digits.parse().map_err(|_| wrong())
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
    fn amounts_are_read_as_people_write_them() {
        let pounds = Currency::new("GBP");
        for (text, minor) in [
            ("25", 2_500),
            ("£25.00", 2_500),
            ("25,00", 2_500),
            ("25.5", 2_550),
            (" 1,200 ", 120_000),
            ("1.200,50", 120_050),
            ("1,234,567.89", 123_456_789),
            ("GBP 1 200", 120_000),
            ("1'200.00", 120_000),
        ] {
            assert_eq!(pounds.parse(text), Ok(minor), "{text}");
        }
        for text in ["", "abc", "1.200", "12.505", "£1.500", "12.345.6", "1,2,3", "-5", "12345,678", ".5", "25.", "1e3"]
        {
            assert!(pounds.parse(text).is_err(), "{text}");
        }
        assert_eq!(["1,200", "1.200"].map(|text| Currency::new("JPY").parse(text)), [Ok(1_200), Ok(1_200)]);
        assert_eq!(Currency::new("KWD").parse("12.505"), Ok(12_505));
        assert!(Currency::new("JPY").parse("12.50").is_err());
    }
}
