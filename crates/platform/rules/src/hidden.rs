//! Amounts that nobody but the platform, and the clerk of the sale, may see: reserves and maxima (decisions, section 6).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A hidden amount, minor units. It has no `Display` and no conversion, and `Debug` does not show it, so that it does not
/// slip into a log, an error or an answer: whoever wants the number has to write [`Hidden::reveal`]. It is serialised as
/// the number, for the store; what is made for others is a view type that has no such field ([`crate::PublicItem`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden(i64);

impl Hidden {
    /// Hides an amount, minor units.
    pub const fn new(amount: i64) -> Self {
        Self(amount)
    }

    /// The amount, minor units: for the rules, the store, and the one who entered it.
    pub const fn reveal(self) -> i64 {
        self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_amount_is_kept_and_not_shown() {
        let hidden = Hidden::new(12_345);
        assert_eq!(format!("{hidden:?}"), "Hidden(…)");
        assert_eq!(serde_json::to_string(&hidden).unwrap(), "12345");
        assert_eq!(serde_json::from_str::<Hidden>("12345").unwrap().reveal(), 12_345);
    }
}
