//! Checking the schemas of an event type before they are saved, for an editor.

use serde_json::Value;

use super::example;
use crate::schema::{self, SchemaFault};

/// Valid schemas.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedSchemas {
    /// The schemas as they would be saved: `"type": "STRING"` is `"type": "string"`.
    pub schemas: Value,
    /// An example of the payload; none when no schema of version `1` describes an object.
    pub example: Option<Value>,
}

impl CheckedSchemas {
    /// Checks a map from version key to schema. Stores nothing.
    pub fn check(mut schemas: Value) -> Result<Self, Vec<SchemaFault>> {
        schema::type_names::to_lower_case(&mut schemas);
        let faults = schema::find_faults(&schemas);
        if !faults.is_empty() {
            return Err(faults);
        }
        let example = example::of_schemas(Some(&schemas), None).ok();
        Ok(Self { schemas, example })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_are_checked_with_type_names_in_upper_case_and_faults_have_their_place() {
        let schemas = json!({"1": {"type": "object", "properties": {"itemUuid": {"type": "STRING"}}}});
        let checked = CheckedSchemas::check(schemas).unwrap();
        assert_eq!(checked.schemas["1"]["properties"]["itemUuid"]["type"], "string");
        assert!(checked.example.unwrap()["itemUuid"].is_string());
        assert_eq!(CheckedSchemas::check(json!({"1": {"type": "array"}})).unwrap().example, None);

        let faults = CheckedSchemas::check(json!({"1": {"properties": {"a": {"type": "strnig"}}}})).unwrap_err();
        let [SchemaFault { version, pointer, .. }] = faults.as_slice() else { panic!("{faults:?}") };
        assert_eq!((version.as_deref(), pointer.as_str()), (Some("1"), "/properties/a/type"));
    }
}
