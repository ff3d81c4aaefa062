//! Amounts as houses write them: `£25.00`, `25,00`, `1,250`, `1.250,50`.

use platform_rules::AMOUNT_MAX;

/// Parses an amount in major units with any currency sign, into minor units. The last separator is the decimal one,
/// unless three digits follow it or it occurs twice: then it separates thousands. The error is the message for the cell.
pub(super) fn parse_major(text: &str, minor_digits: u32) -> Result<i64, String> {
    let shown: String = text.chars().take(40).collect();
    let wrong = || format!("{shown:?} is not an amount: write it like 25.00");
    let number: String =
        text.chars().filter(|char| char.is_ascii_digit() || matches!(char, '.' | ',' | '-' | '(')).collect();
    let is_readable = |char: char| {
        char.is_ascii_digit() || char.is_alphabetic() || char.is_whitespace() || ".,'\u{2019}£$€¥".contains(char)
    };
    if number.contains(['-', '(']) {
        return Err(format!("{shown:?} is negative or a range: an amount is one number of 0 or more"));
    }
    if !text.chars().all(is_readable) || !number.contains(|char: char| char.is_ascii_digit()) {
        return Err(wrong());
    }
    let (whole, fraction) = split(number.trim_end_matches(['.', ',']));
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let digits = usize::try_from(minor_digits).unwrap_or_default();
    let (fraction, rest) = fraction.split_at_checked(digits).unwrap_or((fraction, ""));
    if rest.bytes().any(|digit| digit != b'0') {
        return Err(format!("{shown:?} has more than {digits} decimal places: round it"));
    }
    let minor = format!("{whole}{fraction:0<digits$}");
    match minor.parse::<i64>() {
        Ok(amount) if amount <= AMOUNT_MAX => Ok(amount),
        _ => Err(format!("{shown:?} is too much: at most {AMOUNT_MAX} minor units are possible")),
    }
}

/// The whole part, with its separators, and the decimal places.
fn split(number: &str) -> (&str, &str) {
    let Some(last) = number.rfind(['.', ',']) else { return (number, "") };
    let (whole, fraction) = number.split_at(last);
    let separator = fraction.chars().next().unwrap_or('.');
    let fraction = fraction.get(1..).unwrap_or_default();
    let has_other = whole.contains(if separator == '.' { ',' } else { '.' });
    let is_thousands = whole.contains(separator) || (fraction.len() == 3 && !has_other);
    if is_thousands { (number, "") } else { (whole, fraction) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_houses_become_minor_units() {
        for (text, minor) in [
            ("£25.00", 2_500),
            ("25,00", 2_500),
            ("25", 2_500),
            ("25.5", 2_550),
            ("1,250", 125_000),
            ("1.250", 125_000),
            ("1,250.50", 125_050),
            ("1.250,50 €", 125_050),
            ("GBP 1 250", 125_000),
            ("1'250.00", 125_000),
            ("1,234,567", 123_456_700),
            ("$ 10.", 1_000),
            ("0", 0),
            ("25.000,00", 2_500_000),
            ("2.5000", 250),
        ] {
            assert_eq!(parse_major(text, 2), Ok(minor), "{text}");
        }
        assert_eq!(parse_major("1,250", 0), Ok(1_250));
        assert_eq!(parse_major("25.00", 0), Ok(25));
        for wrong in ["", "POA", "-5", "(25.00)", "100-150", "25.0055", "1e99999999999999999999", "=1"] {
            assert!(parse_major(wrong, 2).is_err(), "{wrong}");
        }
    }
}
