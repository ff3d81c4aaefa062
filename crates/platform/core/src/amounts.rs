//! Amounts as people write them in forms and files, and as exports write them: major units with the decimals of the
//! currency. The API's JSON has minor units instead.
//!
//! Forms, catalogues and the command line read amounts by this one rule. A text that is not plainly one number is
//! refused, because an amount that is guessed wrongly costs money.

mod in_language;

use contract::models::CurrencyCode;
pub use in_language::marks;
use platform_rules::AMOUNT_MAX;

/// Characters of an amount with its currency, at most.
const AMOUNT_CHARS_MAX: usize = 40;
/// Blanks that separate thousands: also no-break, thin, and narrow no-break.
const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{2009}', '\u{202f}'];
const APOSTROPHES: [char; 2] = ['\'', '’'];
/// Signs of currencies. A text with one that is not a sign of the sale's currency is of another currency.
const SIGNS: [char; 13] = ['£', '€', '$', '¥', '￥', '₹', '₩', '₺', '₽', '₪', '฿', '₫', '₴'];

/// The character before the decimals of a file's amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalMark {
    /// `1,234.56`
    Point,
    /// `1.234,56`
    Comma,
}

impl DecimalMark {
    /// `point` or `comma`; none for another word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "point" => Some(Self::Point),
            "comma" => Some(Self::Comma),
            _ => None,
        }
    }

    /// The mark that separates thousands in amounts with this one.
    pub fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }

    fn char(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }
}

/// Why a text is not an amount, with what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct AmountError {
    text: String,
    /// The fault of the text.
    pub fault: AmountFault,
    /// The decimal mark of the file would say which amount it is.
    pub is_ambiguous: bool,
}

/// What is wrong with a text that should be an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountFault {
    /// It is not one number.
    NotOneNumber,
    /// It names another currency.
    OtherCurrency,
    /// It can be read in two ways.
    Ambiguous,
    /// It has more decimals than the currency.
    TooManyDecimals,
    /// It is above the maximum.
    TooMuch,
}

/// Reads and writes amounts of a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrencyFormat {
    code: String,
    digits: usize,
}

impl CurrencyFormat {
    /// The format of the currency with this ISO 4217 code.
    pub fn of(code: &str) -> Self {
        let digits = code.parse::<CurrencyCode>().ok().and_then(|code| code.minor_digits());
        Self { code: code.to_owned(), digits: digits.map_or(2, |digits| digits as usize) }
    }

    /// ISO 4217 code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// True for the code of the currency and for its signs, such as `£`.
    pub fn is_named(&self, text: &str) -> bool {
        text.eq_ignore_ascii_case(&self.code) || signs(&self.code).contains(&text)
    }

    /// Decimals of an amount.
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// The amount with a point, exactly the currency's decimals and no separator of thousands: `1200.00`.
    pub fn write(&self, minor: i64) -> String {
        let sign = if minor < 0 { "-" } else { "" };
        let (whole, decimals) = self.parts(minor);
        if decimals.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{decimals}") }
    }

    /// The digits before and after the decimal mark.
    pub fn parts(&self, minor: i64) -> (String, String) {
        let digits = format!("{:0>1$}", minor.unsigned_abs(), self.digits + 1);
        let (whole, decimals) = digits.split_at(digits.len() - self.digits);
        (whole.to_owned(), decimals.to_owned())
    }

    /// Reads an amount of a file with the headers of an export: digits, and a point before the decimals.
    pub fn read_exported(&self, text: &str) -> Result<i64, AmountError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_written = !whole.is_empty() && is_digits(whole) && is_digits(decimals) && decimals.len() <= self.digits;
        if !is_written || (decimals.is_empty() && text.ends_with('.')) {
            let written = self.example();
            return Err(self.error(text, AmountFault::NotOneNumber, &format!(
                "is not an amount as exports write it. Write digits, and a point before the decimals, such as {written}."
            )));
        }
        self.minor(text, whole, decimals)
    }

    /// Reads an amount as people write it: `25`, `25.00`, `25,00`, `1,200`, `1.200,50`, `£25.00`, `GBP 25`. A separator
    /// before three digits may be the decimal mark or separate thousands; `mark` says which.
    pub fn read(&self, text: &str, mark: Option<DecimalMark>) -> Result<i64, AmountError> {
        let text = text.trim();
        let bare = self.without_currency(text);
        let not_one = || {
            let instead = format!("Write one number in {}, such as {}.", self.code, self.example());
            if bare.contains(SIGNS) {
                let problem = format!("is in another currency than the sale. {instead}");
                return self.error(text, AmountFault::OtherCurrency, &problem);
            }
            self.error(text, AmountFault::NotOneNumber, &format!("is not one amount. {instead}"))
        };
        if text.chars().count() > AMOUNT_CHARS_MAX || !bare.starts_with(|char: char| char.is_ascii_digit()) {
            return Err(not_one());
        }
        let (whole, decimals) = match bare.rfind(['.', ',']).and_then(|at| bare.split_at_checked(at)) {
            None => (bare, ""),
            Some((head, tail)) => match self.last_separator(head, tail, mark) {
                LastSeparator::Decimal => (head, tail.get(1..).unwrap_or_default()),
                LastSeparator::Thousands => (bare, ""),
                LastSeparator::Either => return Err(self.ambiguous(text)),
            },
        };
        if (whole != bare && decimals.is_empty()) || !is_digits(decimals) {
            return Err(not_one());
        }
        let whole = joined_thousands(whole).ok_or_else(|| match mark {
            Some(mark)
                if whole.ends_with(|last: char| last.is_ascii_digit()) && whole.contains(mark.other().char()) =>
            {
                let problem = format!("does not have the file's decimal mark, “{}”.", mark.char());
                let problem = format!("{problem} Write it such as {}.", self.example_with(mark));
                self.error(text, AmountFault::NotOneNumber, &problem)
            }
            _ => not_one(),
        })?;
        let (decimals, rest) = decimals.split_at_checked(self.digits).unwrap_or((decimals, ""));
        if rest.bytes().any(|digit| digit != b'0') {
            return Err(self.error(
                text,
                AmountFault::TooManyDecimals,
                &format!("has too many decimals. Write at most {} of them, such as {}.", self.digits, self.example()),
            ));
        }
        self.minor(text, &whole, decimals)
    }

    /// The text without the code and the sign of this currency, each once, before or after the number.
    fn without_currency<'a>(&self, text: &'a str) -> &'a str {
        let mut rest = text;
        for words in [&[self.code.as_str()][..], signs(&self.code)] {
            let stripped = words.iter().find_map(|word| without_word(rest, word));
            rest = stripped.map_or(rest, |stripped| stripped.trim_matches(|char: char| char.is_whitespace()));
        }
        rest
    }

    /// What the last separator of `head` and `tail` is, which begins the tail.
    fn last_separator(&self, head: &str, tail: &str, mark: Option<DecimalMark>) -> LastSeparator {
        let separator = tail.chars().next().unwrap_or('.');
        if head.contains(separator) {
            return LastSeparator::Thousands;
        }
        // `1,200.50`: the others separate thousands. `12345.678` and `1.5` can't be thousands.
        if let Some(mark) = mark {
            return if mark.char() == separator { LastSeparator::Decimal } else { LastSeparator::Thousands };
        }
        // No thousands follow a zero: `0,500` is a half.
        let is_grouped = !is_digits(head);
        if is_grouped || tail.len() != 4 || head.len() > 3 || head == "0" {
            return LastSeparator::Decimal;
        }
        // A point is the decimal mark of most software, so `12.505` may be a price with a digit too many.
        let may_be_decimal = self.digits > 2 || (self.digits > 0 && separator == '.');
        if may_be_decimal { LastSeparator::Either } else { LastSeparator::Thousands }
    }

    fn minor(&self, text: &str, whole: &str, decimals: &str) -> Result<i64, AmountError> {
        let minor = format!("{whole}{decimals:0<digits$}", digits = self.digits);
        let amount = minor.parse::<i64>().ok().filter(|amount| *amount <= AMOUNT_MAX);
        amount.ok_or_else(|| {
            let problem = format!("is too much. Write at most {} {}.", self.write(AMOUNT_MAX), self.code);
            self.error(text, AmountFault::TooMuch, &problem)
        })
    }

    /// The refusal of an amount that can be read in two ways.
    pub fn ambiguous(&self, text: &str) -> AmountError {
        let instead = format!("Write thousands without a separator, and all decimals, such as {}", self.example());
        self.error(text, AmountFault::Ambiguous, &format!("can be read in two ways. {instead}."))
    }

    fn error(&self, text: &str, fault: AmountFault, problem: &str) -> AmountError {
        let shown: String = text.trim().chars().take(AMOUNT_CHARS_MAX).collect();
        AmountError { text: format!("“{shown}” {problem}"), fault, is_ambiguous: fault == AmountFault::Ambiguous }
    }

    fn example_with(&self, mark: DecimalMark) -> String {
        self.example().replace('.', mark.char().encode_utf8(&mut [0; 4]))
    }

    /// An amount as people may write it.
    pub fn example(&self) -> String {
        let minor = 10_i64.saturating_pow(u32::try_from(self.digits).unwrap_or_default()).saturating_mul(2_500);
        self.write(minor / 2)
    }
}

enum LastSeparator {
    Decimal,
    Thousands,
    Either,
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The digits of a number whose thousands may be separated by one kind of separator; none for another text.
fn joined_thousands(whole: &str) -> Option<String> {
    let separator = whole.chars().find(|char| !char.is_ascii_digit());
    let Some(separator) = separator else { return Some(whole.to_owned()) };
    let kind: &[char] = match separator {
        '.' => &['.'],
        ',' => &[','],
        blank if BLANKS.contains(&blank) => &BLANKS,
        apostrophe if APOSTROPHES.contains(&apostrophe) => &APOSTROPHES,
        _ => return None,
    };
    let mut groups = whole.split(kind);
    // A number of thousands begins with another digit than zero.
    let is_first = |first: &&str| (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0');
    let first = groups.next().filter(is_first)?;
    groups.try_fold(first.to_owned(), |joined, group| (group.len() == 3 && is_digits(group)).then(|| joined + group))
}

/// The text without the word before or after it.
fn without_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, tail) = text.split_at_checked(word.len()).unwrap_or_default();
    if head.eq_ignore_ascii_case(word) {
        return Some(tail);
    }
    let (head, tail) = text.split_at_checked(text.len().checked_sub(word.len())?)?;
    tail.eq_ignore_ascii_case(word).then_some(head)
}

/// How people write a currency besides its code; a longer sign before one that it contains.
fn signs(code: &str) -> &'static [&'static str] {
    match code {
        "GBP" => &["£"],
        "EUR" => &["€"],
        "USD" => &["US$", "$"],
        "CHF" => &["SFr.", "SFr", "Fr.", "Fr"],
        "JPY" => &["¥", "￥", "円"],
        "CNY" => &["¥", "￥", "元"],
        "AUD" => &["AU$", "A$", "$"],
        "CAD" => &["CA$", "C$", "$"],
        "NZD" => &["NZ$", "$"],
        "HKD" => &["HK$", "$"],
        "SGD" => &["S$", "$"],
        "TWD" => &["NT$", "$"],
        "MXN" | "ARS" | "CLP" | "COP" => &["$"],
        "DKK" | "NOK" | "SEK" | "ISK" => &["kr.", "kr"],
        "PLN" => &["zł"],
        "CZK" => &["Kč"],
        "INR" => &["₹"],
        "KRW" => &["₩"],
        "TRY" => &["₺"],
        "ILS" => &["₪"],
        "THB" => &["฿"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: &str, text: &str) -> Result<i64, AmountError> {
        CurrencyFormat::of(code).read(text, None)
    }

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, minor) in [
            ("25", 2_500),
            ("£25.00", 2_500),
            ("25,00", 2_500),
            ("25.5", 2_550),
            (" 1,200 ", 120_000),
            ("1.200,50", 120_050),
            ("1,234,567.89", 123_456_789),
            ("1.234.567", 123_456_700),
            ("GBP 1 200", 120_000),
            ("gbp1200", 120_000),
            ("£25 GBP", 2_500),
            ("1'200.00", 120_000),
            ("1\u{202f}250,50 £", 125_050),
            ("2.5000", 250),
            ("0", 0),
        ] {
            assert_eq!(read("GBP", text), Ok(minor), "{text}");
        }
        assert_eq!(["1,200", "1.200", "25.00"].map(|text| read("JPY", text)), [Ok(1_200), Ok(1_200), Ok(25)]);
        assert_eq!([read("CHF", "Fr. 12.50"), read("USD", "US$5"), read("USD", "$5")], [Ok(1_250), Ok(500), Ok(500)]);
        assert_eq!(
            ["1,234.500", "12345.678", "12"].map(|text| read("KWD", text)),
            [Ok(1_234_500), Ok(12_345_678), Ok(12_000)]
        );
    }

    #[test]
    fn what_is_not_plainly_one_number_is_refused() {
        for text in [
            "",
            "abc",
            "£1.2k",
            "12 or 15",
            "1e3",
            "50p",
            "POA 2016",
            "POA",
            "€50",
            "$75",
            "US$ 75",
            "CHF 5",
            "100-150",
            "-5",
            "(25.00)",
            "12.345.6",
            "1,2,3",
            "12345,67,8",
            ".5",
            "25.",
            "£",
            "££5",
            "1 2",
            "1.200 5",
            "1,00,000",
            "25.0055",
            "12.505",
            "1.200",
            "5 EUR",
            "1.2.",
            "=1",
            "1,234'567",
            "٣",
            "1\n2",
            "1e99999999999999999999",
            "0000000000000000000000000000000000000000005",
        ] {
            assert!(read("GBP", text).is_err(), "{text}");
        }
        assert!(read("GBP", "99999999999999999").unwrap_err().to_string().contains("is too much"));
        assert!(read("GBP", "€50").unwrap_err().to_string().contains("is in another currency"));
        assert!(read("JPY", "12.5").unwrap_err().to_string().contains("too many decimals"));
        let refused = read("GBP", "12 or 15").unwrap_err().to_string();
        assert_eq!(refused, "“12 or 15” is not one amount. Write one number in GBP, such as 1250.00.");
    }

    #[test]
    fn the_decimal_mark_decides_what_can_be_read_in_two_ways() {
        let marks = [None, Some(DecimalMark::Point), Some(DecimalMark::Comma)];
        let read = |code: &str, text: &str| marks.map(|mark| CurrencyFormat::of(code).read(text, mark).ok());
        assert_eq!(read("KWD", "1.500"), [None, Some(1_500), Some(1_500_000)]);
        assert_eq!(read("KWD", "1,500"), [None, Some(1_500_000), Some(1_500)]);
        assert_eq!(read("GBP", "1.500"), [None, Some(150), Some(150_000)]);
        assert_eq!(read("GBP", "1,500"), [Some(150_000), Some(150_000), Some(150)]);
        assert!(CurrencyFormat::of("KWD").read("1.500", None).unwrap_err().is_ambiguous);
        assert_eq!(read("GBP", "12.5"), [Some(1_250), Some(1_250), None], "the file has another mark");
        assert_eq!(read("GBP", "12,5"), [Some(1_250), None, Some(1_250)]);
        let refused = CurrencyFormat::of("GBP").read("12.5", Some(DecimalMark::Comma)).unwrap_err().to_string();
        assert_eq!(refused, "“12.5” does not have the file's decimal mark, “,”. Write it such as 1250,00.");
        assert_eq!(read("GBP", "0,500"), [Some(50), None, Some(50)], "no thousands follow a zero");
        assert_eq!(read("KWD", "0.500"), [Some(500), Some(500), None]);
        assert_eq!(["0,500", "0.001", "012,500"].map(|text| read("JPY", text)), [[None; 3]; 3]);
    }

    #[test]
    fn a_written_amount_has_the_decimals_of_its_currency_and_is_read_again() {
        for (code, minor, text) in [
            ("GBP", 120_000, "1200.00"),
            ("CHF", 5, "0.05"),
            ("JPY", 1_234_567, "1234567"),
            ("KWD", 1_500, "1.500"),
            ("GBP", AMOUNT_MAX, "10000000000000.00"),
        ] {
            let format = CurrencyFormat::of(code);
            assert_eq!((format.write(minor).as_str(), format.read_exported(text)), (text, Ok(minor)));
        }
        let pounds = CurrencyFormat::of("GBP");
        assert_eq!(["5", "5.5"].map(|text| pounds.read_exported(text)), [Ok(500), Ok(550)]);
        for text in ["", "1,250", "5.", ".5", "£5", "1e3", "-5", "5.555", "1 000", "12500000000000000.00"] {
            assert!(pounds.read_exported(text).is_err(), "{text}");
        }
    }
}
