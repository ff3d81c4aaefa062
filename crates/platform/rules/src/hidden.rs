//! Secret amounts: reserves and maxima. Only the platform and the clerk of the sale may read them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret amount, minor units. It has no `Display` and no conversion, and `Debug` omits the number, so that it can't
/// reach a log, an error or a response by accident; code that needs the number calls [`Hidden::reveal`]. For the store
/// it is serialised as the number. Public views such as [`crate::PublicItem`] have no field of this type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden(i64);

impl Hidden {
    /// Hides an amount, minor units.
    pub const fn new(amount: i64) -> Self {
        Self(amount)
    }

    /// The amount, minor units. For the rules, the store, and responses to the person who entered it.
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
    fn debug_output_omits_the_amount_and_json_keeps_it() {
        let hidden = Hidden::new(12_345);
        assert_eq!(format!("{hidden:?}"), "Hidden(…)");
        assert_eq!(serde_json::to_string(&hidden).unwrap(), "12345");
        assert_eq!(serde_json::from_str::<Hidden>("12345").unwrap().reveal(), 12_345);
    }
}
