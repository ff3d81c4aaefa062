//! A colour that an account or a house chose for its pages, and its contrast there (WCAG 2.2, success criterion 1.4.3).
//!
//! Both cores check a chosen colour with it, and `kit/design` makes a style sheet of it.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Minimum contrast of text and its background.
const CONTRAST_MIN: f64 = 4.5;
/// The darkest background of a link on light pages, and the lightest on dark pages.
const LIGHT_PAGE: Colour = Colour([0xf5, 0xf6, 0xf7]);
const DARK_PAGE: Colour = Colour([0x1e, 0x25, 0x28]);
/// Steps from a colour to white.
const STEPS: u32 = 40;

/// An sRGB colour, written `#0d6b57`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Colour {
    /// Parses `#` and six hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text
            .strip_prefix('#')
            .filter(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        let channel = |index: usize| u8::from_str_radix(digits.get(index..index + 2)?, 16).ok();
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }

    /// The colour of a text, if links and buttons can have it.
    ///
    /// Errors: the fault of the text, in words for the user who entered it.
    pub fn readable(text: &str) -> Result<Self, String> {
        let colour =
            Self::parse(text).ok_or("must be # and six hexadecimal digits, such as #0d6b57, or be empty".to_owned())?;
        colour.problem().map_or(Ok(colour), Err)
    }

    /// The contrast of two colours: 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (first, second) = (self.luminance(), other.luminance());
        (first.max(second) + 0.05) / (first.min(second) + 0.05)
    }

    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// The error text if the contrast is too low for links and buttons on light pages.
    pub fn problem(self) -> Option<String> {
        let contrast = self.contrast(LIGHT_PAGE);
        (contrast < CONTRAST_MIN).then(|| {
            format!("has a contrast of {contrast:.1}:1 on light pages; choose a darker colour with at least {CONTRAST_MIN}:1")
        })
    }

    /// The colour, mixed with as little white as makes it readable on dark pages.
    pub fn on_dark_pages(self) -> Self {
        let mixed = |step: u32| {
            let towards_white = |channel: u8| {
                let (from, to) = (u32::from(channel), 255_u32);
                u8::try_from((from * (STEPS - step) + to * step) / STEPS).unwrap_or(u8::MAX)
            };
            Self(self.0.map(towards_white))
        };
        let readable = (0..=STEPS).map(mixed).find(|colour| colour.contrast(DARK_PAGE) >= CONTRAST_MIN);
        readable.unwrap_or(Self([0xff; 3]))
    }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a colour"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_six_hexadecimal_digits_are_a_colour() {
        assert_eq!(Colour::parse("#0D6b57").unwrap().to_string(), "#0d6b57");
        for text in ["", "#", "0d6b57", "#0d6b5", "#0d6b577", "#0d6b5g", "#+1+1+1", "#äöü", "red;}"] {
            assert_eq!(Colour::parse(text), None, "{text}");
            assert!(Colour::readable(text).unwrap_err().contains("hexadecimal"), "{text}");
        }
    }

    #[test]
    fn contrasts_match_wcag() {
        let colour = |text| Colour::parse(text).unwrap();
        assert!((colour("#ffffff").contrast(colour("#000000")) - 21.0).abs() < 0.01);
        assert!((colour("#777777").contrast(colour("#ffffff")) - 4.48).abs() < 0.01);
        assert_eq!(colour("#0d6b57").problem(), None);
        assert!(colour("#ffcc00").problem().unwrap().contains("1.4:1"), "{:?}", colour("#ffcc00").problem());
        for text in ["#0d6b57", "#000000", "#0000ff", "#7a0000", "#ffffff"] {
            assert!(colour(text).on_dark_pages().contrast(DARK_PAGE) >= CONTRAST_MIN, "{text}");
        }
    }

    #[test]
    fn a_stored_colour_is_its_text() {
        let colour = Colour::readable("#0d6b57").unwrap();
        assert_eq!(serde_json::to_string(&colour).unwrap(), "\"#0d6b57\"");
        assert_eq!(serde_json::from_str::<Colour>("\"#0d6b57\"").unwrap(), colour);
        assert!(serde_json::from_str::<Colour>("\"red\"").is_err());
        assert!(Colour::readable("#ffcc00").unwrap_err().contains("darker colour"));
    }
}
