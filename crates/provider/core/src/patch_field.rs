//! Fields of a PATCH: each is kept or set.

/// The change of one field by a PATCH. An optional field is a `PatchField<Option<T>>`, and null empties it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PatchField<T> {
    /// The PATCH does not contain the field.
    #[default]
    Keep,
    /// The new value.
    Set(T),
}

impl<T> PatchField<T> {
    pub(crate) fn apply(self, field: &mut T) {
        if let Self::Set(value) = self {
            *field = value;
        }
    }
}
