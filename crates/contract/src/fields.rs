//! Reads one JSON object field by field, so that each refusal has its code and its place.
//!
//! Derived readers would lose both: their errors are text only, and the place of a missing field is its parent.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use uuid::Uuid;

use crate::ModelError;

/// The fields of one object that have not been taken yet, in the order of the text.
pub(crate) struct Fields {
    remaining: Vec<(String, Value)>,
    known: Vec<&'static str>,
}

impl Fields {
    /// Reads a JSON text. Its size is bounded by whoever received it.
    pub(crate) fn from_json(json: &str) -> Result<Self, ModelError> {
        match serde_json::from_str::<Object>(json) {
            Ok(Object(left)) => Ok(Self::of(left)),
            // Sound JSON of another shape than the one asked for, which is an object.
            Err(error) if error.is_data() => Err(ModelError::NotAnObject { pointer: String::new() }),
            Err(error) => Err(ModelError::NotJson { detail: error.to_string() }),
        }
    }

    /// Takes a value that was read before.
    pub(crate) fn from_value(value: Value) -> Result<Self, ModelError> {
        match value {
            Value::Object(map) => Ok(Self::of(map.into_iter().collect())),
            _ => Err(ModelError::NotAnObject { pointer: String::new() }),
        }
    }

    /// Reads from any deserializer, for `Deserialize` of a model within a larger document.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Object::deserialize(deserializer).map(|Object(left)| Self::of(left))
    }

    fn of(left: Vec<(String, Value)>) -> Self {
        Self { remaining: left, known: Vec::new() }
    }

    /// `@class`: may be left out, and must be `class` when it is there.
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

    /// A field that has to be there.
    pub(crate) fn required<T: FieldValue>(&mut self, name: &'static str) -> Result<T, ModelError> {
        let value = self.take(name).ok_or_else(|| ModelError::MissingField { pointer: pointer(name) })?;
        read(name, value)
    }

    /// A field that may be absent; `null` means the same.
    pub(crate) fn optional<T: FieldValue>(&mut self, name: &'static str) -> Result<Option<T>, ModelError> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(name, value).map(Some),
        }
    }

    /// Refuses what nobody asked for. Called last, once every field of the model has been asked for.
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
        let at = self.remaining.iter().position(|(left, _)| left == name)?;
        Some(self.remaining.remove(at).1)
    }
}

/// JSON pointer (RFC 6901) of a field of the document itself.
pub(crate) fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// What a field can hold.
pub(crate) trait FieldValue: Sized {
    /// The JSON type in words.
    const EXPECTED: &'static str;
    /// Nothing when the JSON type is another; text when the type is right and the value is not allowed.
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
        // The parser of the crate knows braces, URNs and bare digits as well; the wire has one form.
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

/// An object that keeps fields standing there twice, so that they can be refused.
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
    fn a_text_that_is_no_object_is_refused() {
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
    fn a_field_is_missing_or_of_the_wrong_type_at_its_own_place() {
        let mut read = fields(r#"{"id": "7", "big": 9223372036854775808, "half": 1.5, "none": null}"#);
        assert_eq!(read.required::<i64>("name").unwrap_err().to_string(), "/name: required field is missing");
        assert_eq!(read.required::<i64>("id").unwrap_err().to_string(), "/id: must be a 64-bit integer");
        assert_eq!(read.required::<i64>("big").unwrap_err().code(), "wrong_type");
        assert_eq!(read.optional::<i64>("half").unwrap_err().code(), "wrong_type");
        assert_eq!(read.optional::<i64>("none").unwrap(), None);
        read.end().unwrap();
    }

    #[test]
    fn a_field_too_many_is_refused_with_the_known_ones() {
        let mut read = fields(r#"{"id": 1, "a/b~c": 2}"#);
        read.optional::<i64>("id").unwrap();
        read.optional::<String>("name").unwrap();
        let error = read.end().unwrap_err();
        assert_eq!((error.code(), error.pointer()), ("unknown_field", "/a~1b~0c"));
        assert_eq!(error.to_string(), "/a~1b~0c: unknown field; known are id, name");
    }

    #[test]
    fn a_field_given_twice_is_refused() {
        let mut read = fields(r#"{"id": 1, "id": 1}"#);
        read.optional::<i64>("id").unwrap();
        assert_eq!(read.end().unwrap_err().to_string(), "/id: given twice");
    }

    #[test]
    fn a_uuid_has_one_form() {
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
