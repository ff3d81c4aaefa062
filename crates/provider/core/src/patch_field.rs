//! Fields of a PATCH: each is left as it is, or set.

/// What a PATCH does to one field. A field that can be empty is a `PatchField<Option<T>>`, where null empties it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PatchField<T> {
    /// It was not named.
    #[default]
    Keep,
    /// It becomes this.
    Set(T),
}

impl<T> PatchField<T> {
    /// Does it.
    pub(crate) fn apply(self, field: &mut T) {
        if let Self::Set(value) = self {
            *field = value;
        }
    }
}
