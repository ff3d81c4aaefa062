//! Amounts of a currency, as pages show them and as people type them.

use platform_core::amounts::{AmountError, AmountFault, CurrencyFormat, DecimalMark, marks};
use platform_core::port::Language;
use platform_rules::{AMOUNT_MAX, Auction};

use crate::Words;

/// Characters of a typed amount that a fault repeats.
const TYPED_CHARS_MAX: usize = 40;

/// A currency whose amounts a page shows and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Currency {
    format: CurrencyFormat,
    language: Language,
}

impl Currency {
    /// The currency of an auction.
    pub fn of(auction: &Auction) -> Self {
        Self::new(&auction.currency)
    }

    /// The currency with this ISO 4217 code.
    pub fn new(code: &str) -> Self {
        Self { format: CurrencyFormat::of(code), language: Language::English }
    }

    /// The same with amounts as a language writes them.
    pub fn in_language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// ISO 4217 code.
    pub fn code(&self) -> &str {
        self.format.code()
    }

    /// Minor units of one major unit: 100 pence of a pound, 1 yen.
    pub fn minor_units(&self) -> i64 {
        (0..self.format.digits()).fold(1, |units, _| units * 10)
    }

    /// The amount with its currency, without decimals where they are zero: `£1,200`, `CHF 25.50`, `1.200 €`.
    pub fn show(&self, minor: i64) -> String {
        self.format.show(minor, self.language)
    }

    /// The amount with its currency and all decimals: `£1,200.00`.
    pub fn exact(&self, minor: i64) -> String {
        self.format.show_exactly(minor, self.language)
    }

    /// The amount as a field of a form has it: `1200`, `25.50`.
    pub fn plain(&self, minor: i64) -> String {
        let (whole, decimals) = self.format.parts(minor);
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
        self.read(text).map_err(|error| error.to_string())
    }

    /// The same, with a fault in the words of the language. Where a comma is the decimal mark, `1.200` is twelve hundred, and an
    /// amount that reads otherwise in English, such as `1,200`, is refused.
    pub fn parse_in_words(&self, text: &str) -> Result<i64, String> {
        self.read(text).map_err(|error| {
            let (words, currency) = (Words::in_language(self.language), self.code());
            let shown: String = text.trim().chars().take(TYPED_CHARS_MAX).collect();
            let (_, point) = marks(self.language);
            let example = self.format.example().replace('.', point.encode_utf8(&mut [0; 4]));
            match error.fault {
                AmountFault::NotOneNumber => words.with(
                    "amount-unread",
                    [("text", shown.into()), ("currency", currency.into()), ("example", example.into())],
                ),
                AmountFault::OtherCurrency => words.with(
                    "amount-currency",
                    [("text", shown.into()), ("currency", currency.into()), ("example", example.into())],
                ),
                AmountFault::Ambiguous => {
                    words.with("amount-ambiguous", [("text", shown.into()), ("example", example.into())])
                }
                AmountFault::TooManyDecimals => {
                    words.with("amount-decimals", [("text", shown.into()), ("example", example.into())])
                }
                AmountFault::TooMuch => {
                    words.with("amount-too-much", [("text", shown.into()), ("most", self.show(AMOUNT_MAX).into())])
                }
            }
        })
    }

    fn read(&self, text: &str) -> Result<i64, AmountError> {
        if self.language == Language::English {
            let mark = (self.format.digits() > 2 && !text.contains(',')).then_some(DecimalMark::Point);
            return self.format.read(text, mark);
        }
        let local = self.format.read(text, Some(DecimalMark::Comma));
        match (self.format.read(text, None), local) {
            (Ok(anywhere), Ok(here)) if anywhere != here => Err(self.format.ambiguous(text)),
            (Err(error), Ok(here)) if error.fault == AmountFault::Ambiguous => Ok(here),
            // `12,345` is a price with a digit too many, not twelve thousand.
            (Ok(_), Err(error)) if error.fault == AmountFault::TooManyDecimals => Err(self.format.ambiguous(text)),
            (anywhere, _) => anywhere,
        }
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

    #[test]
    fn amounts_are_shown_and_read_as_a_language_writes_them() {
        let shown = |language, code: &str, minor| Currency::new(code).in_language(language).show(minor);
        assert_eq!(shown(Language::German, "EUR", 120_000), "1.200\u{a0}€");
        assert_eq!(shown(Language::German, "GBP", 2_550), "25,50\u{a0}£");
        assert_eq!(shown(Language::French, "EUR", 123_456_789), "1\u{202f}234\u{202f}567,89\u{a0}€");
        assert_eq!(shown(Language::Spanish, "CHF", 120_000), "1.200\u{a0}CHF");
        assert_eq!(shown(Language::Italian, "USD", -150), "−1,50\u{a0}US$");
        assert_eq!(shown(Language::English, "EUR", 120_000), "€1,200");
        let german = Currency::new("EUR").in_language(Language::German);
        let twelve_hundred = ["1.200", "1200", "1.200,00", "1 200 €", "1.200\u{a0}€", "1'200"];
        assert_eq!(twelve_hundred.map(|text| german.parse_in_words(text)), [const { Ok(120_000) }; 6]);
        assert_eq!(["12,5", "12.5"].map(|text| german.parse_in_words(text)), [Ok(1_250), Ok(1_250)]);
        let refused = german.parse_in_words("1,200").unwrap_err();
        assert_eq!(
            refused,
            "„1,200“ kann man auf zwei Arten lesen. Schreiben Sie Tausender ohne Trennzeichen und alle Nachkommastellen, zum \
             Beispiel 1250,00."
        );
        for text in ["", "zwölf", "12 oder 15", "£25", "12,345", "999999999999999999"] {
            assert!(german.parse_in_words(text).is_err(), "{text}");
        }
        for language in Language::ALL {
            let own = Currency::new("EUR").in_language(language);
            for minor in [0, 5, 99, 120_000, 120_050, 123_456_789] {
                assert_eq!(own.parse_in_words(&own.exact(minor)), Ok(minor), "{language:?}");
            }
        }
    }
}
