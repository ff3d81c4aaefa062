//! Fields of a PATCH body. Use with `#[serde(default, deserialize_with = "patch::field")]`: a field that is not named stays
//! as it is; null empties a `Change<Option<T>>`, and is refused for any other.

use std::num::NonZeroU16;

use provider_core::Change;
use serde::{Deserialize, Deserializer};

/// A field that was named.
pub(crate) fn field<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Change<T>, D::Error> {
    T::deserialize(deserializer).map(Change::Set)
}

/// A number that was read as one that can't be 0.
pub(crate) fn plain(number: Change<Option<NonZeroU16>>) -> Change<Option<u16>> {
    match number {
        Change::Keep => Change::Keep,
        Change::Set(number) => Change::Set(number.map(NonZeroU16::get)),
    }
}
