//! Geographic coordinates, which are text in JSON.

use std::str::FromStr;

use crate::InvalidText;
use crate::text::{text, truncated};

/// Degrees north (positive) or south, −90 to 90.
pub type Latitude = Degrees<90>;
/// Degrees east (positive) or west, −180 to 180.
pub type Longitude = Degrees<180>;

/// Decimal degrees between −`MAX` and `MAX`, kept as the given text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Degrees<const MAX: u16>(String);

/// Twelve decimals resolve a tenth of a micrometre. More digits indicate another unit.
const DECIMALS_MAX: usize = 12;

impl<const MAX: u16> Degrees<MAX> {
    /// The text, such as `-1.257300`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: u16> FromStr for Degrees<MAX> {
    type Err = InvalidText;

    fn from_str(given: &str) -> Result<Self, InvalidText> {
        let unsigned = given.strip_prefix('-').unwrap_or(given);
        let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let plain = (1..=3).contains(&whole.len())
            && (1..=DECIMALS_MAX).contains(&decimals.len())
            && digits(whole)
            && digits(decimals);
        // The form is checked too, because `parse` accepts `inf` and `1e2`.
        match unsigned.parse::<f64>() {
            Ok(size) if plain && size <= f64::from(MAX) => Ok(Self(given.to_owned())),
            _ => Err(InvalidText::new(format!(
                "must be decimal degrees from -{MAX} to {MAX} with at most {DECIMALS_MAX} decimals, such as -1.2573; \
                 {:?} was given",
                truncated(given)
            ))),
        }
    }
}

text!(Latitude, as_str, "decimal degrees of latitude as text");
text!(Longitude, as_str, "decimal degrees of longitude as text");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_in_range_are_kept_as_given() {
        for given in ["0", "-0", "51.752022", "-1.257300", "90", "-90.000", "007.5", "89.999999999999"] {
            assert_eq!(given.parse::<Latitude>().map(|read| read.to_string()).as_deref(), Ok(given));
        }
        for given in ["180", "-180.0", "179.9999", "-91"] {
            assert_eq!(given.parse::<Longitude>().map(|read| read.to_string()).as_deref(), Ok(given));
        }
    }

    #[test]
    fn anything_but_decimal_degrees_in_range_is_rejected() {
        let wrong = [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "90.000000000001",
            "-90.1",
            "91",
            "180",
            "+1",
            "--1",
            " 1",
            "1 ",
            "1,5",
            "1e1",
            "inf",
            "NaN",
            "0x1",
            "51°45'N",
            "51.7N",
            "1.2.3",
            "0.1234567890123",
            "٣",
        ];
        for given in wrong {
            assert!(given.parse::<Latitude>().is_err(), "{given:?}");
        }
        for given in ["180.1", "-181", "1000", "999"] {
            assert!(given.parse::<Longitude>().is_err(), "{given:?}");
        }
        assert_eq!(
            "91".parse::<Latitude>().unwrap_err().to_string(),
            r#"must be decimal degrees from -90 to 90 with at most 12 decimals, such as -1.2573; "91" was given"#
        );
    }
}
