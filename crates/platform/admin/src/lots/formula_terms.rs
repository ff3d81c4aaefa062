//! A formula for an amount of a lot, such as "reserve = 90 % of the low estimate, rounded down to 10".

use kit_design::fields::{FieldErrors, FormFields};
use platform_rules::{AMOUNT_MAX, Hidden, Item};

use super::columns::Column;
use platform_words::Currency;

/// Hundredths of a percent that a formula takes at most: 1,000 %.
const BASIS_POINTS_MAX: i64 = 100_000;
/// The amounts that a formula can set.
pub(super) const TARGETS: [Column; 5] =
    [Column::Reserve, Column::OpeningBid, Column::LowEstimate, Column::HighEstimate, Column::BuyNow];
/// The amounts that a formula can begin with.
pub(super) const SOURCES: [Column; 4] =
    [Column::LowEstimate, Column::HighEstimate, Column::Reserve, Column::OpeningBid];
/// Steps in major units to which a result is rounded.
pub(super) const STEPS: [i64; 8] = [1, 5, 10, 20, 50, 100, 500, 1_000];

/// Where an amount between two steps goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// To the nearer step, from the middle up.
    Nearest,
    Down,
    Up,
}

impl Rounding {
    pub(super) const ALL: [Self; 3] = [Self::Nearest, Self::Down, Self::Up];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Nearest => "To the nearest, from the middle up",
            Self::Down => "Down",
            Self::Up => "Up",
        }
    }
}

/// The formula of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Formula {
    pub(super) target: Column,
    pub(super) source: Column,
    /// Hundredths of a percent.
    basis_points: i64,
    /// Major units.
    step: i64,
    rounding: Rounding,
}

impl Formula {
    /// Reads the formula; none with an error.
    pub(super) fn read(form: &FormFields, errors: &mut FieldErrors) -> Option<Self> {
        let column = |name: &str, all: &[Column]| Column::parse(form.text(name)).filter(|column| all.contains(column));
        let (target, source) = (column("target", &TARGETS), column("source", &SOURCES));
        if target.is_none() {
            errors.add("target", "Choose an amount.");
        }
        if source.is_none() {
            errors.add("source", "Choose an amount.");
        }
        let basis_points = basis_points(form.text("percent"));
        if basis_points.is_none() {
            errors.add("percent", "Write a percentage from 0.01 to 1000, such as 90 or 87.5.");
        }
        let step = form.text("step").parse().ok().filter(|step| STEPS.contains(step));
        if step.is_none() {
            errors.add("step", "Choose a step.");
        }
        let rounding = Rounding::ALL.into_iter().find(|rounding| rounding.name() == form.text("rounding"));
        if rounding.is_none() {
            errors.add("rounding", "Choose a rounding.");
        }
        Some(Self { target: target?, source: source?, basis_points: basis_points?, step: step?, rounding: rounding? })
    }

    /// The amount for a lot, in minor units; none for a lot without the amount that the formula begins with, and for a result
    /// that is no amount.
    pub(super) fn of(&self, item: &Item, currency: &Currency) -> Option<i64> {
        self.result(amount(self.source, item)?, currency.minor_units())
    }

    fn result(&self, source: i64, minor_units: i64) -> Option<i64> {
        let (share, whole) = (i128::from(source) * i128::from(self.basis_points), 10_000_i128);
        // Multiples of a step, before they are rounded: a share of `step`.
        let step = whole * i128::from(self.step) * i128::from(minor_units);
        let steps = match self.rounding {
            Rounding::Nearest => (2 * share + step) / (2 * step),
            Rounding::Down => share / step,
            Rounding::Up => (share + step - 1) / step,
        };
        let result = i64::try_from(steps * i128::from(self.step) * i128::from(minor_units)).ok()?;
        (1..=AMOUNT_MAX).contains(&result).then_some(result)
    }

    /// The formula in words: `Reserve = 90 % of the low estimate, rounded down to multiples of €10`.
    pub(super) fn words(&self, currency: &Currency) -> String {
        let step = currency.show(self.step * currency.minor_units());
        let rounding = match self.rounding {
            Rounding::Nearest => format!("rounded to the nearest multiple of {step}, from the middle up"),
            Rounding::Down => format!("rounded down to multiples of {step}"),
            Rounding::Up => format!("rounded up to multiples of {step}"),
        };
        let (whole, part) = (self.basis_points / 100, self.basis_points % 100);
        let percent = if part == 0 { whole.to_string() } else { format!("{whole}.{part:02}") };
        let (target, source) = (self.target.label(), self.source.label().to_lowercase());
        format!("{target} = {percent}\u{a0}% of the {source}, {rounding}")
    }
}

/// The amount of a lot; none without one.
pub(super) fn amount(column: Column, item: &Item) -> Option<i64> {
    match column {
        Column::LowEstimate => item.low_estimate,
        Column::HighEstimate => item.high_estimate,
        Column::OpeningBid => Some(item.opening_bid).filter(|amount| *amount > 0),
        Column::Reserve => item.reserve.map(Hidden::reveal),
        Column::BuyNow => item.buy_now,
        _ => None,
    }
}

/// Hundredths of a percent of a typed percentage with at most two decimals.
fn basis_points(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches('%').trim().replace(',', ".");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let is_plain = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || whole.len() > 4 || decimals.len() > 2 || !is_plain(whole) || !is_plain(decimals) {
        return None;
    }
    let basis_points = whole.parse::<i64>().ok()? * 100 + format!("{decimals:0<2}").parse::<i64>().ok()?;
    (1..=BASIS_POINTS_MAX).contains(&basis_points).then_some(basis_points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(percent: &str, step: i64, rounding: Rounding) -> Formula {
        let basis_points = basis_points(percent).unwrap();
        Formula { target: Column::Reserve, source: Column::LowEstimate, basis_points, step, rounding }
    }

    #[test]
    fn results_are_rounded_to_steps_of_major_units() {
        for (percent, source, step, rounding, expected) in [
            ("90", 25_000, 1, Rounding::Nearest, Some(22_500)),
            ("90", 25_000, 10, Rounding::Nearest, Some(23_000)),
            ("90", 25_000, 10, Rounding::Down, Some(22_000)),
            ("90", 24_500, 10, Rounding::Nearest, Some(22_000)),
            ("90", 24_500, 10, Rounding::Up, Some(23_000)),
            ("100", 30_000, 100, Rounding::Up, Some(30_000)),
            ("87.5", 12_345, 1, Rounding::Nearest, Some(10_800)),
            ("66,66", 10_000, 1, Rounding::Down, Some(6_600)),
            // Nothing is left of it, or too much.
            ("10", 900, 1, Rounding::Down, None),
            ("1000", AMOUNT_MAX, 1, Rounding::Down, None),
        ] {
            let found = formula(percent, step, rounding).result(source, 100);
            assert_eq!(found, expected, "{percent} % of {source} to {step}");
        }
        assert_eq!(formula("90", 10, Rounding::Nearest).result(250, 1), Some(230), "a currency without decimals");
    }

    #[test]
    fn percentages_are_plain_numbers_with_two_decimals() {
        assert_eq!(
            ["90", "87.5 %", "66,66", "0.01", "1000"].map(basis_points),
            [9_000, 8_750, 6_666, 1, 100_000].map(Some)
        );
        for text in ["", "0", "-5", "1000.01", "1.005", "ninety", "1e3", ".5"] {
            assert_eq!(basis_points(text), None, "{text}");
        }
    }

    #[test]
    fn a_formula_says_its_rounding() {
        let words = |percent, step, rounding| formula(percent, step, rounding).words(&Currency::new("EUR"));
        let down = "Reserve = 90\u{a0}% of the low estimate, rounded down to multiples of €10";
        assert_eq!(words("90", 10, Rounding::Down), down);
        let nearest =
            "Reserve = 87.50\u{a0}% of the low estimate, rounded to the nearest multiple of €1, from the middle up";
        assert_eq!(words("87.5", 1, Rounding::Nearest), nearest);
    }
}
