//! Rates: basis points in the platform, percent on pages.

use platform_rules::BASIS_POINTS_MAX;

/// `25 %`, `17.5 %`.
pub fn show(basis_points: u32) -> String {
    format!("{}\u{a0}%", field(basis_points))
}

/// The value of a field: `25`, `17.5`.
pub fn field(basis_points: u32) -> String {
    let (whole, rest) = (basis_points / 100, basis_points % 100);
    let text = format!("{whole}.{rest:02}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads a rate in percent.
pub fn parse(text: &str) -> Result<u32, String> {
    let wrong =
        || format!("“{text:.40}” is not a rate. Write percent from 0 to {}, such as 17.5.", BASIS_POINTS_MAX / 100);
    let bare = text.trim().trim_end_matches('%').trim().replace(',', ".");
    let (whole, rest) = bare.split_once('.').unwrap_or((&bare, ""));
    if whole.is_empty() || rest.len() > 2 || !format!("{whole}{rest}").bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let points: u32 = format!("{whole}{rest:0<2}").parse().map_err(|_| wrong())?;
    if points > BASIS_POINTS_MAX { Err(wrong()) } else { Ok(points) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_quoted_by_its_beginning() {
        assert!(parse(&"x".repeat(900)).unwrap_err().chars().count() < 120);
    }

    #[test]
    fn rates_are_read_and_shown_in_percent() {
        for (text, points, shown) in [
            ("25", 2_500, "25"),
            ("17.5 %", 1_750, "17.5"),
            ("0", 0, "0"),
            ("17,25", 1_725, "17.25"),
            ("100", 10_000, "100"),
        ] {
            assert_eq!(parse(text), Ok(points), "{text}");
            assert_eq!(field(points), shown);
        }
        for text in ["", "-1", "101", "1.234", "x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
