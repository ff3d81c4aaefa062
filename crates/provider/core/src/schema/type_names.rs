//! Type names in upper case. The specification of the events writes `"type": "STRING"`; JSON Schema accepts only
//! `string`.

use serde_json::{Map, Value};

/// The type names of JSON Schema.
const TYPE_NAMES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Keywords whose value is a schema, or a list of schemas.
const SCHEMA_KEYWORDS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is an object with schemas.
const MAP_KEYWORDS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Maximum depth at which type names are replaced. A deeper schema is rejected later.
const DEPTH_MAX: usize = 128;

/// Replaces type names in upper case by those of JSON Schema, in every version's schema. Values of other keywords, such
/// as `enum` and `examples`, stay as they are.
pub(crate) fn to_lower_case(schemas: &mut Value) {
    schemas.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|schema| lower_schema(schema, 0));
}

fn lower_schema(schema: &mut Value, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| lower_schema(schema, depth + 1)),
        Value::Object(keywords) => {
            keywords.get_mut("type").into_iter().for_each(lower_type);
            for keyword in SCHEMA_KEYWORDS {
                keywords.get_mut(keyword).into_iter().for_each(|schema| lower_schema(schema, depth + 1));
            }
            for keyword in MAP_KEYWORDS {
                let schemas = keywords.get_mut(keyword).and_then(Value::as_object_mut);
                let schemas = schemas.into_iter().flat_map(Map::values_mut);
                schemas.for_each(|schema| lower_schema(schema, depth + 1));
            }
        }
        _ => {}
    }
}

fn lower_type(name: &mut Value) {
    match name {
        Value::String(text) => {
            if let Some(known) = TYPE_NAMES.iter().find(|known| known.to_uppercase() == *text) {
                *text = (*known).to_owned();
            }
        }
        Value::Array(names) => names.iter_mut().filter(|name| name.is_string()).for_each(lower_type),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn type_names_in_upper_case_become_those_of_json_schema_and_other_values_stay() {
        for (sent, kept) in [
            (json!({"type": "STRING"}), json!({"type": "string"})),
            (json!({"type": ["STRING", "NULL"]}), json!({"type": ["string", "null"]})),
            (
                json!({"type": "OBJECT", "properties": {"type": {"type": "STRING"}, "n": {"items": {"type": "INTEGER"}}}}),
                json!({"type": "object", "properties": {"type": {"type": "string"}, "n": {"items": {"type": "integer"}}}}),
            ),
            (json!({"anyOf": [{"type": "NUMBER"}]}), json!({"anyOf": [{"type": "number"}]})),
            (json!({"$defs": {"a": {"type": "BOOLEAN"}}}), json!({"$defs": {"a": {"type": "boolean"}}})),
        ] {
            let mut schemas = json!({"1": sent});
            to_lower_case(&mut schemas);
            assert_eq!(schemas, json!({"1": kept}));
        }
        for same in [
            json!({"enum": [{"type": "STRING"}], "const": {"type": "STRING"}, "examples": [{"type": "STRING"}]}),
            json!({"type": "String"}),
            json!({"type": "STRNIG"}),
            json!(true),
        ] {
            let mut schemas = json!({"1": same});
            to_lower_case(&mut schemas);
            assert_eq!(schemas, json!({"1": same}));
        }
    }
}
