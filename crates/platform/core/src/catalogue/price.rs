//! Amounts of a catalogue row: a row with a bad price is refused with the reason and what to write instead.

use platform_rules::AMOUNT_MAX;

/// Parses an amount in minor units: digits and nothing else. The error is the message for the row.
pub(super) fn parse_amount(text: &str) -> Result<i64, String> {
    let shown: String = text.chars().take(40).collect();
    if let Some(digits) = text.strip_prefix('-')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(format!("{shown:?} is negative: an amount is 0 or more"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "{shown:?} is not a whole number of minor units: write digits only, such as 12500 for 125.00"
        ));
    }
    match text.parse::<i64>() {
        Ok(amount) if amount <= AMOUNT_MAX => Ok(amount),
        _ => Err(format!("{shown:?} is too much: at most {AMOUNT_MAX} minor units are possible")),
    }
}
