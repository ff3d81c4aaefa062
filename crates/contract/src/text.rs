//! Shared code of the value types that are one string in JSON.

/// A text that is not a valid value of the type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct InvalidText {
    /// What is wrong, and what would be valid.
    pub detail: String,
}

impl InvalidText {
    pub(crate) fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into() }
    }

    /// Stable code of this error; a model with this value in a field reports the same code.
    pub fn code(&self) -> &'static str {
        "invalid_value"
    }
}

/// The given text, cut to 64 characters so that an error stays readable.
pub(crate) fn truncated(given: &str) -> String {
    const GIVEN_CHARS_MAX: usize = 64;
    given.chars().take(GIVEN_CHARS_MAX).collect()
}

/// Implements `Display`, serde and [`FieldValue`](crate::fields::FieldValue) for a type with `FromStr` and a method
/// that returns its text.
macro_rules! text {
    ($type:ty, $text:ident, $expecting:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.$text())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$text())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl $crate::fields::FieldValue for $type {
            const EXPECTED: &'static str = "a string";

            fn read(value: serde_json::Value) -> Option<Result<Self, String>> {
                Some(value.as_str()?.parse::<$type>().map_err(|error| error.to_string()))
            }
        }
    };
}

pub(crate) use text;
