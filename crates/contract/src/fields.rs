//! Reads one JSON object field by field, so that each error has a code and a JSON pointer.
//!
//! Derived deserializers have neither: their errors are text only, and they report a missing field at its parent.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use uuid::Uuid;

use crate::ModelError;

/// The fields of one object that were not read yet, in the order of the JSON.
pub(crate) struct Fields {
    remaining: Vec<(String, Value)>,
    known: Vec<&'static str>,
}

impl Fields {
    /// Parses a JSON text. The caller limits its size.
    pub(crate) fn from_json(json: &str) -> Result<Self, ModelError> {
        match serde_json::from_str::<Object>(json) {
            Ok(Object(fields)) => Ok(Self::of(fields)),
            // Valid JSON, but not an object.
            Err(error) if error.is_data() => Err(ModelError::NotAnObject { pointer: String::new() }),
            Err(error) => Err(ModelError::NotJson { detail: error.to_string() }),
        }
    }

    /// Reads a parsed JSON value.
    pub(crate) fn from_value(value: Value) -> Result<Self, ModelError> {
        match value {
            Value::Object(map) => Ok(Self::of(map.into_iter().collect())),
            _ => Err(ModelError::NotAnObject { pointer: String::new() }),
        }
    }

    /// Reads from a deserializer, for the `Deserialize` of a model inside a larger document.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Object::deserialize(deserializer).map(|Object(fields)| Self::of(fields))
    }

    fn of(fields: Vec<(String, Value)>) -> Self {
        Self { remaining: fields, known: Vec::new() }
    }

    /// Reads `@class`: it may be absent, and must be `class` otherwise.
    pub(crate) fn class(&mut self, class: &'static str) -> Result<(), ModelError> {
        match self.take("@class") {
            None => Ok(()),
            Some(Value::String(given)) if given == class => Ok(()),
            Some(given) => Err(ModelError::WrongClass {
                pointer: pointer("@class"),
                expected: class,
                given: given.as_str().map_or_else(|| given.to_string(), str::to_owned),
            }),
        }
    }

    /// Checks that these required fields are present. The error names all absent ones, where [`Fields::required`] would
    /// stop at the first.
    pub(crate) fn require(&self, names: &[&str]) -> Result<(), ModelError> {
        let is_absent = |name: &&&str| !self.remaining.iter().any(|(field, _)| field == **name);
        let mut absent = names.iter().filter(is_absent).map(|name| pointer(name));
        match absent.next() {
            None => Ok(()),
            Some(pointer) => Err(ModelError::MissingField { pointer, others: absent.collect() }),
        }
    }

    /// Reads a required field.
    pub(crate) fn required<T: FieldValue>(&mut self, name: &'static str) -> Result<T, ModelError> {
        let missing = || ModelError::MissingField { pointer: pointer(name), others: Vec::new() };
        let value = self.take(name).ok_or_else(missing)?;
        read(name, value)
    }

    /// Reads an optional field; `null` counts as absent.
    pub(crate) fn optional<T: FieldValue>(&mut self, name: &'static str) -> Result<Option<T>, ModelError> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(name, value).map(Some),
        }
    }

    /// Rejects unknown and duplicate fields. Call it last, after all fields of the model were read.
    pub(crate) fn reject_unknown(self) -> Result<(), ModelError> {
        let Some((name, _)) = self.remaining.into_iter().next() else {
            return Ok(());
        };
        let pointer = pointer(&name);
        if self.known.contains(&name.as_str()) {
            return Err(ModelError::DuplicateField { pointer });
        }
        Err(ModelError::UnknownField { pointer, known: self.known.join(", ") })
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        let at = self.remaining.iter().position(|(field, _)| field == name)?;
        Some(self.remaining.remove(at).1)
    }
}

/// JSON pointer (RFC 6901) of a top-level field.
pub(crate) fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A type that a field can have.
pub(crate) trait FieldValue: Sized {
    /// The JSON type in words, after "must be".
    const EXPECTED: &'static str;
    /// None for another JSON type; an error text for a value of the right type that is not allowed.
    fn read(value: Value) -> Option<Result<Self, String>>;
}

impl FieldValue for i64 {
    const EXPECTED: &'static str = "a 64-bit integer";
    fn read(value: Value) -> Option<Result<Self, String>> {
        value.as_i64().map(Ok)
    }
}

impl FieldValue for String {
    const EXPECTED: &'static str = "a string";
    fn read(value: Value) -> Option<Result<Self, String>> {
        match value {
            Value::String(text) => Some(Ok(text)),
            _ => None,
        }
    }
}

impl FieldValue for Uuid {
    const EXPECTED: &'static str = "a string";
    fn read(value: Value) -> Option<Result<Self, String>> {
        // The crate also parses braces, URNs and plain digits; the contract allows the hyphenated form only.
        const HYPHENATED_CHARS: usize = 36;
        let text = value.as_str()?;
        let uuid = Uuid::try_parse(text).ok().filter(|_| text.len() == HYPHENATED_CHARS);
        Some(uuid.ok_or_else(|| "must be a UUID such as 01934b9e-7c5a-7d3e-8f21-0a1b2c3d4e5f".to_owned()))
    }
}

fn read<T: FieldValue>(name: &str, value: Value) -> Result<T, ModelError> {
    match T::read(value) {
        Some(Ok(value)) => Ok(value),
        Some(Err(detail)) => Err(ModelError::InvalidValue { pointer: pointer(name), detail }),
        None => Err(ModelError::WrongType { pointer: pointer(name), expected: T::EXPECTED }),
    }
}

/// A JSON object that keeps duplicate fields, so that they can be rejected.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(json: &str) -> Fields {
        Fields::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn a_text_that_is_not_an_object_is_rejected() {
        for (json, code) in [
            ("", "not_json"),
            ("{", "not_json"),
            ("{} {}", "not_json"),
            ("[]", "not_an_object"),
            ("7", "not_an_object"),
        ] {
            let error = Fields::from_json(json).err().map(|error| error.code());
            assert_eq!(error, Some(code), "{json:?}");
        }
    }

    #[test]
    fn a_missing_or_mistyped_field_is_reported_at_its_own_pointer() {
        let mut read = fields(r#"{"id": "7", "big": 9223372036854775808, "half": 1.5, "none": null}"#);
        assert_eq!(read.required::<i64>("name").unwrap_err().to_string(), "/name: the required field is missing");
        assert_eq!(read.required::<i64>("id").unwrap_err().to_string(), "/id: must be a 64-bit integer");
        assert_eq!(read.required::<i64>("big").unwrap_err().code(), "wrong_type");
        assert_eq!(read.optional::<i64>("half").unwrap_err().code(), "wrong_type");
        assert_eq!(read.optional::<i64>("none").unwrap(), None);
        read.reject_unknown().unwrap();
    }

    #[test]
    fn an_unknown_field_is_rejected_with_the_known_ones() {
        let mut read = fields(r#"{"id": 1, "a/b~c": 2}"#);
        read.optional::<i64>("id").unwrap();
        read.optional::<String>("name").unwrap();
        let error = read.reject_unknown().unwrap_err();
        assert_eq!((error.code(), error.pointer()), ("unknown_field", "/a~1b~0c"));
        assert_eq!(error.to_string(), "/a~1b~0c: unknown field; the known fields are id, name");
    }

    #[test]
    fn a_duplicate_field_is_rejected() {
        let mut read = fields(r#"{"id": 1, "id": 1}"#);
        read.optional::<i64>("id").unwrap();
        assert_eq!(read.reject_unknown().unwrap_err().to_string(), "/id: the field occurs twice; give it once");
    }

    #[test]
    fn a_uuid_must_be_hyphenated() {
        for (text, allowed) in [
            ("01934b9e-7c5a-7d3e-8f21-0a1b2c3d4e5f", true),
            ("01934B9E-7C5A-7D3E-8F21-0A1B2C3D4E5F", true),
            ("01934b9e7c5a7d3e8f210a1b2c3d4e5f", false),
            ("{01934b9e-7c5a-7d3e-8f21-0a1b2c3d4e5f}", false),
            ("urn:uuid:01934b9e-7c5a-7d3e-8f21-0a1b2c3d4e5f", false),
            ("", false),
        ] {
            let read = fields(&format!(r#"{{"u": "{text}"}}"#)).required::<Uuid>("u");
            assert_eq!(read.is_ok(), allowed, "{text}");
        }
    }
}
