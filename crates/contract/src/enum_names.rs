//! Shared code of enums with names: a value is written as its name, and read from the exact name only.

use crate::text::truncated;

/// An unknown name. The text lists the allowed names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not an {kind}; use one of {allowed}")]
pub struct UnknownName {
    /// Kind of the names: `item status`, `auction status`, `event type`.
    pub kind: &'static str,
    /// The given name, cut to 64 characters.
    pub given: String,
    /// The allowed names, separated by commas.
    pub allowed: String,
}

impl UnknownName {
    pub(crate) fn new(kind: &'static str, given: &str, allowed: impl Iterator<Item = &'static str>) -> Self {
        Self { kind, given: truncated(given), allowed: allowed.collect::<Vec<_>>().join(", ") }
    }

    /// Stable code of this error.
    pub fn code(&self) -> &'static str {
        "unknown_name"
    }
}

/// Implements `FromStr`, `Display` and serde for an enum with `ALL` and `name()`.
macro_rules! named {
    ($type:ty, $kind:literal) => {
        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|known| known.name() == name);
                found.ok_or_else(|| $crate::UnknownName::new($kind, name, Self::ALL.iter().map(|known| known.name())))
            }
        }

        $crate::text::text!($type, name, concat!("the name of an ", $kind));
    };
}

pub(crate) use named;
