//! Why a JSON text is not one of the contract's models or events.

/// A refusal: what is wrong, and where. The text is for the person who wrote the JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is not JSON at all.
    #[error("not JSON: {detail}")]
    NotJson {
        /// What the reader met, with line and column.
        detail: String,
    },
    /// Something else stands where an object has to be.
    #[error("{}: must be a JSON object", pointer_or_root(pointer))]
    NotAnObject {
        /// JSON pointer of the value.
        pointer: String,
    },
    /// `@class` names another class.
    #[error("{pointer}: must be {expected:?}, or be left out; {given:?} was given")]
    WrongClass {
        /// JSON pointer of the `@class` field.
        pointer: String,
        /// The class of this model.
        expected: &'static str,
        /// What was given instead.
        given: String,
    },
    /// A field that the model does not have.
    #[error("{pointer}: unknown field; known are {known}")]
    UnknownField {
        /// JSON pointer of the field.
        pointer: String,
        /// The model's fields, separated by commas.
        known: String,
    },
    /// A field that stands there twice.
    #[error("{pointer}: given twice")]
    DuplicateField {
        /// JSON pointer of the field.
        pointer: String,
    },
    /// A required field that is absent.
    #[error("{pointer}: required field is missing")]
    MissingField {
        /// JSON pointer that the field would have.
        pointer: String,
    },
    /// Neither of two fields, of which one is needed.
    #[error("{pointer}: required field is missing; {other:?} would do as well")]
    MissingEither {
        /// JSON pointer that the first field would have.
        pointer: String,
        /// Name of the field that may stand in for it.
        other: &'static str,
    },
    /// A value of another JSON type.
    #[error("{pointer}: must be {expected}")]
    WrongType {
        /// JSON pointer of the field.
        pointer: String,
        /// The type in words: `a string`, `a 64-bit integer`.
        expected: &'static str,
    },
    /// A value of the right JSON type that is not allowed.
    #[error("{pointer}: {detail}")]
    InvalidValue {
        /// JSON pointer of the field.
        pointer: String,
        /// What is wrong and what would be right.
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
            | Self::MissingField { pointer }
            | Self::MissingEither { pointer, .. }
            | Self::WrongType { pointer, .. }
            | Self::InvalidValue { pointer, .. } => pointer,
        }
    }

    /// The same error seen from a document that holds the model at `prefix` (a JSON pointer, such as `/address`).
    pub fn under(mut self, prefix: &str) -> Self {
        match &mut self {
            Self::NotJson { .. } => {}
            Self::NotAnObject { pointer }
            | Self::WrongClass { pointer, .. }
            | Self::UnknownField { pointer, .. }
            | Self::DuplicateField { pointer }
            | Self::MissingField { pointer }
            | Self::MissingEither { pointer, .. }
            | Self::WrongType { pointer, .. }
            | Self::InvalidValue { pointer, .. } => pointer.insert_str(0, prefix),
        }
        self
    }
}

fn pointer_or_root(pointer: &str) -> &str {
    if pointer.is_empty() { "the document" } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_can_be_seen_from_the_document_around_it() {
        let error = ModelError::MissingField { pointer: "/postcode".to_owned() }.under("/auctioneer/address");
        assert_eq!(error.pointer(), "/auctioneer/address/postcode");
        assert_eq!(error.to_string(), "/auctioneer/address/postcode: required field is missing");
        let whole = ModelError::NotAnObject { pointer: String::new() };
        assert_eq!(whole.to_string(), "the document: must be a JSON object");
        assert_eq!(whole.under("/address").pointer(), "/address");
    }
}
