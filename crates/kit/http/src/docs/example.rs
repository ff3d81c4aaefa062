//! Example values for schemas: the example or default of the schema, else the value after "such as" or before
//! "(default)" in the description, else a value of the right type.

use serde_json::{Map, Value, json};

use super::schema::{resolve_ref, type_names};

/// Maximum depth of an example; schemas may be recursive.
const DEPTH_MAX: usize = 8;

/// An example value for a schema.
pub(super) fn example(document: &Value, schema: &Value) -> Value {
    at_depth(document, schema, 0)
}

fn at_depth(document: &Value, schema: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    if let Some(given) = given(schema) {
        return given;
    }
    let schema = resolve_ref(document, schema);
    if let Some(given) = given(schema) {
        return given;
    }
    for choice in ["oneOf", "anyOf"] {
        let is_null = |one: &&Value| one["type"] == "null";
        if let Some(first) = schema[choice].as_array().and_then(|all| all.iter().find(|one| !is_null(one))) {
            return at_depth(document, first, depth + 1);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts {
            if let Value::Object(object) = at_depth(document, part, depth + 1) {
                whole.extend(object);
            }
        }
        return Value::Object(whole);
    }
    match type_names(schema).into_iter().find(|name| *name != "null") {
        Some("object") => object(document, schema, depth),
        Some("array") => json!([at_depth(document, &schema["items"], depth + 1)]),
        Some("integer" | "number") => schema.get("minimum").filter(|least| **least != 0).cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("string") => text(schema).into(),
        _ if schema["properties"].is_object() => object(document, schema, depth),
        _ => json!({}),
    }
}

fn given(schema: &Value) -> Option<Value> {
    let named = ["example", "const", "default"].into_iter().find_map(|name| schema.get(name));
    let first = |name: &str| schema.get(name).and_then(|all| all.get(0));
    named.or_else(|| first("examples")).or_else(|| first("enum")).cloned().or_else(|| such_as(schema))
}

/// The text in backticks after "such as" or before "(default)".
fn such_as(schema: &Value) -> Option<Value> {
    let description = schema["description"].as_str()?;
    let named = description.split_once("such as `").and_then(|(_, rest)| Some(rest.split_once('`')?.0));
    let default = || description.split_once("` (default)").and_then(|(before, _)| before.rsplit('`').next());
    let text = named.or_else(default)?;
    match type_names(schema).into_iter().find(|name| *name != "null") {
        Some("string") => Some(text.into()),
        Some("integer" | "number" | "boolean") => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn object(document: &Value, schema: &Value, depth: usize) -> Value {
    let mut object = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        object.insert(name.clone(), at_depth(document, property, depth + 1));
    }
    if object.is_empty() && schema["additionalProperties"].is_object() {
        object.insert("name".to_owned(), at_depth(document, &schema["additionalProperties"], depth + 1));
    }
    Value::Object(object)
}

fn text(schema: &Value) -> &'static str {
    match schema["format"].as_str() {
        Some("uuid") => "019a8f3e-5c1d-7a42-9b60-3f2d1c4e5a6b",
        Some("date-time") => "2027-03-01T18:00:00.000Z",
        Some("date") => "2027-03-01",
        Some("uri") => "https://example.com/",
        Some("email") => "ada@example.com",
        _ => "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_comes_from_the_schema_or_has_its_type() {
        let document = json!({ "components": { "schemas": {
            "Lot": { "type": "object", "properties": {
                "uuid": { "type": "string", "format": "uuid" },
                "currency": { "type": ["string", "null"], "description": "A code, such as `GBP`." },
                "status": { "type": "string", "description": "`DRAFT` (default) or `LIVE`." },
                "count": { "type": "integer", "minimum": 3 },
                "next": { "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Kind" }] },
                "parts": { "type": "array", "items": { "$ref": "#/components/schemas/Lot" } },
            } },
            "Kind": { "type": "string", "enum": ["timed", "webcast"] },
        } } });
        let made = example(&document, &json!({ "$ref": "#/components/schemas/Lot" }));
        assert_eq!(made["uuid"].as_str().map(str::len), Some(36));
        assert_eq!((&made["currency"], &made["count"], &made["next"]), (&json!("GBP"), &json!(3), &json!("timed")));
        assert_eq!(made["status"], "DRAFT");
        assert_eq!(made["parts"][0]["currency"], "GBP", "the example of a recursive schema ends");
    }
}
