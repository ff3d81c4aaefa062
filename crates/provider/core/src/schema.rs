//! Checks that the schemas of an event type are valid JSON Schemas. Nothing is fetched: the library is built without
//! its HTTP and file resolvers, and rejects remote references.

pub(crate) mod cost;
pub(crate) mod type_names;

use serde_json::Value;

use crate::error::FieldError;

/// Maximum number of versions of an event type's schema.
const VERSIONS_MAX: usize = 100;

/// A fault in a map from version key to schema, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// The version of the schema; none for a fault of the map.
    pub version: Option<String>,
    /// JSON pointer of the value within the schema; empty for the schema itself.
    pub pointer: String,
    /// What is wrong, for people.
    pub text: String,
}

/// All faults of a map from version key to schema, as errors of the API.
pub(crate) fn faults(schemas: &Value) -> Vec<FieldError> {
    find_faults(schemas).into_iter().map(SchemaFault::into_field_error).collect()
}

/// All faults of a map from version key to schema.
pub(crate) fn find_faults(schemas: &Value) -> Vec<SchemaFault> {
    let Some(versions) = schemas.as_object() else {
        return vec![fault(None, "must be an object from version key to schema")];
    };
    if versions.len() > VERSIONS_MAX {
        return vec![fault(None, format!("must have at most {VERSIONS_MAX} versions"))];
    }
    versions.iter().filter_map(|(version, schema)| version_fault(version, schema)).collect()
}

fn version_fault(version: &str, schema: &Value) -> Option<SchemaFault> {
    if !schema.is_object() {
        return Some(fault(Some(version), "must be an object"));
    }
    if let Err(error) = jsonschema::meta::validate(schema) {
        let pointer = error.instance_path().to_string();
        let at = if pointer.is_empty() { String::new() } else { format!("at {pointer}: ") };
        let text = format!("is not a JSON Schema: {at}{error}");
        return Some(SchemaFault { pointer, ..fault(Some(version), text) });
    }
    // Also checks that references resolve within the schema, and that patterns are valid.
    if let Err(error) = jsonschema::validator_for(schema) {
        return Some(fault(Some(version), format!("can't be used as a JSON Schema: {error}")));
    }
    cost::shape(schema).err().map(|reason| fault(Some(version), reason))
}

fn fault(version: Option<&str>, text: impl Into<String>) -> SchemaFault {
    SchemaFault { version: version.map(str::to_owned), pointer: String::new(), text: text.into() }
}

impl SchemaFault {
    fn into_field_error(self) -> FieldError {
        FieldError::in_body(std::iter::once("schemas".into()).chain(self.version.map(Into::into)), self.text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invalid_schema_is_rejected_with_its_version() {
        for (schemas, faults_expected) in [
            (json!({}), 0),
            (json!({"1": {}}), 0),
            (json!({"1": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}), 0),
            (json!({"1": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}}), 0),
            (json!([]), 1),
            (json!({"1": true}), 1),
            (json!({"1": {"type": "strnig"}}), 1),
            (json!({"1": {"type": "STRING"}, "2": {"required": "a"}}), 2),
            (json!({"1": {"$ref": "#/$defs/missing"}}), 1),
            (json!({"1": {"$ref": "http://127.0.0.1:1/schema.json"}}), 1),
            (json!({"1": {"$ref": "file:///etc/passwd"}}), 1),
            (json!({"1": {"$schema": "http://127.0.0.1:1/meta.json"}}), 1),
        ] {
            let faults = faults(&schemas);
            assert_eq!(faults.len(), faults_expected, "{schemas}: {faults:?}");
        }
    }
}
