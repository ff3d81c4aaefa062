//! Why a JSON text is not a valid model or event of the contract.

/// A validation error: what is wrong, and where in the JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is not JSON.
    #[error("not JSON: {detail}")]
    NotJson {
        /// The error of the JSON parser, with line and column.
        detail: String,
    },
    /// The value is not an object.
    #[error("{}: must be a JSON object", pointer_or_root(pointer))]
    NotAnObject {
        /// JSON pointer of the value.
        pointer: String,
    },
    /// `@class` names another class.
    #[error("{pointer}: must be {expected:?} or absent; {given:?} was given")]
    WrongClass {
        /// JSON pointer of the `@class` field.
        pointer: String,
        /// The class of the model.
        expected: &'static str,
        /// The given value.
        given: String,
    },
    /// The model has no such field.
    #[error("{pointer}: unknown field; the known fields are {known}")]
    UnknownField {
        /// JSON pointer of the field.
        pointer: String,
        /// The model's fields, separated by commas.
        known: String,
    },
    /// The field occurs twice.
    #[error("{pointer}: the field occurs twice; give it once")]
    DuplicateField {
        /// JSON pointer of the field.
        pointer: String,
    },
    /// Required fields are absent.
    #[error("{pointer}: the required field is missing{}", and_others(others))]
    MissingField {
        /// JSON pointer of the first absent field.
        pointer: String,
        /// JSON pointers of the other absent fields.
        others: Vec<String>,
    },
    /// Both of two fields are absent, and one is required.
    #[error("{pointer}: the required field is missing; give it or {other:?}")]
    MissingEither {
        /// JSON pointer of the first field.
        pointer: String,
        /// Name of the second field.
        other: &'static str,
    },
    /// The value has another JSON type.
    #[error("{pointer}: must be {expected}")]
    WrongType {
        /// JSON pointer of the field.
        pointer: String,
        /// The type in words: `a string`, `a 64-bit integer`.
        expected: &'static str,
    },
    /// The value has the right JSON type, and is not allowed.
    #[error("{pointer}: {detail}")]
    InvalidValue {
        /// JSON pointer of the field.
        pointer: String,
        /// What is wrong, and what would be valid.
        detail: String,
    },
}

impl ModelError {
    /// Stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "not_json",
            Self::NotAnObject { .. } => "not_an_object",
            Self::WrongClass { .. } => "wrong_class",
            Self::UnknownField { .. } => "unknown_field",
            Self::DuplicateField { .. } => "duplicate_field",
            Self::MissingField { .. } | Self::MissingEither { .. } => "missing_field",
            Self::WrongType { .. } => "wrong_type",
            Self::InvalidValue { .. } => "invalid_value",
        }
    }

    /// JSON pointer (RFC 6901) of the field, such as `/postcode`; empty for the whole text.
    pub fn pointer(&self) -> &str {
        match self {
            Self::NotJson { .. } => "",
            Self::NotAnObject { pointer }
            | Self::WrongClass { pointer, .. }
            | Self::UnknownField { pointer, .. }
            | Self::DuplicateField { pointer }
            | Self::MissingField { pointer, .. }
            | Self::MissingEither { pointer, .. }
            | Self::WrongType { pointer, .. }
            | Self::InvalidValue { pointer, .. } => pointer,
        }
    }

    /// JSON pointers of all fields that the error is about: more than one if several required fields are absent.
    pub fn pointers(&self) -> impl Iterator<Item = &str> {
        let others = match self {
            Self::MissingField { others, .. } => others.as_slice(),
            _ => &[],
        };
        std::iter::once(self.pointer()).chain(others.iter().map(String::as_str))
    }

    /// The same error in a document that contains the model at `prefix`, a JSON pointer such as `/address`.
    pub fn under(mut self, prefix: &str) -> Self {
        match &mut self {
            Self::NotJson { .. } => {}
            Self::MissingField { pointer, others } => {
                std::iter::once(pointer).chain(others).for_each(|pointer| pointer.insert_str(0, prefix));
            }
            Self::NotAnObject { pointer }
            | Self::WrongClass { pointer, .. }
            | Self::UnknownField { pointer, .. }
            | Self::DuplicateField { pointer }
            | Self::MissingEither { pointer, .. }
            | Self::WrongType { pointer, .. }
            | Self::InvalidValue { pointer, .. } => pointer.insert_str(0, prefix),
        }
        self
    }
}

fn and_others(pointers: &[String]) -> String {
    if pointers.is_empty() { String::new() } else { format!("; missing too: {}", pointers.join(", ")) }
}

fn pointer_or_root(pointer: &str) -> &str {
    if pointer.is_empty() { "the document" } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_can_be_placed_in_a_larger_document() {
        let error = ModelError::MissingField { pointer: "/postcode".to_owned(), others: Vec::new() };
        let error = error.under("/auctioneer/address");
        assert_eq!(error.pointer(), "/auctioneer/address/postcode");
        assert_eq!(error.to_string(), "/auctioneer/address/postcode: the required field is missing");
        let whole = ModelError::NotAnObject { pointer: String::new() };
        assert_eq!(whole.to_string(), "the document: must be a JSON object");
        assert_eq!(whole.under("/address").pointer(), "/address");
    }
}
