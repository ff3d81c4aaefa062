//! Fields of a PATCH body. Use with `#[serde(default, deserialize_with = "patch::field")]`: a field that is not named stays
//! as it is; null empties a `PatchField<Option<T>>`, and is refused for any other.

use std::num::NonZeroU16;

use provider_core::PatchField;
use serde::{Deserialize, Deserializer};

/// A field that was named.
pub(crate) fn field<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<PatchField<T>, D::Error> {
    T::deserialize(deserializer).map(PatchField::Set)
}

/// A number that was read as one that can't be 0.
pub(crate) fn to_u16(number: PatchField<Option<NonZeroU16>>) -> PatchField<Option<u16>> {
    match number {
        PatchField::Keep => PatchField::Keep,
        PatchField::Set(number) => PatchField::Set(number.map(NonZeroU16::get)),
    }
}
