//! What the values that are one string on the wire have in common.

/// A text that is not such a value. Says what is wrong and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct InvalidText {
    /// What is wrong and what would be right.
    pub detail: String,
}

impl InvalidText {
    pub(crate) fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into() }
    }

    /// Stable code of this error, the one that a field with such a value has in a model.
    pub fn code(&self) -> &'static str {
        "invalid_value"
    }
}

/// What was given, cut so that an error stays readable.
pub(crate) fn truncated(given: &str) -> String {
    const GIVEN_CHARS_MAX: usize = 64;
    given.chars().take(GIVEN_CHARS_MAX).collect()
}

/// Display, serde and use as a field of a type that has `FromStr` and a method that gives its text.
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
