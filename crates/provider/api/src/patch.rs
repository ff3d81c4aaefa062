//! Fields of a PATCH body, with `#[serde(default, deserialize_with = "patch::field")]`. An absent field keeps its
//! value. Null removes the value of a `PatchField<Option<T>>`; any other field refuses null.

use std::num::NonZeroU16;

use provider_core::PatchField;
use serde::{Deserialize, Deserializer};

/// A field that the body contains.
pub(crate) fn field<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<PatchField<T>, D::Error> {
    T::deserialize(deserializer).map(PatchField::Set)
}

/// A number that was parsed as a non-zero one.
pub(crate) fn to_u16(number: PatchField<Option<NonZeroU16>>) -> PatchField<Option<u16>> {
    match number {
        PatchField::Keep => PatchField::Keep,
        PatchField::Set(number) => PatchField::Set(number.map(NonZeroU16::get)),
    }
}
