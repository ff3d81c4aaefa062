//! The facts of the webhook API's public OpenAPI document, which tests of `provider-api` compare every response with:
//! methods, paths, statuses, and the fields of each schema with their type. Texts, examples and limits are left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{Failure, say};

/// The file that is written, one line for each operation and each field.
const FACTS: &str = "crates/provider/api/tests/provider_api/public_document.json";
const METHODS: [&str; 6] = ["delete", "get", "head", "patch", "post", "put"];
const SCHEMA: &str = "/content/application~1json/schema";
/// The keywords of a type that are extracted.
const OF_TYPE: [&str; 4] = ["enum", "format", "nullable", "type"];

/// `provider-facts FILE`.
pub(crate) fn run_task(root: &Path, arguments: &[String]) -> Result<(), Failure> {
    let [file] = arguments else { return Err("usage: cargo xtask provider-facts FILE".to_owned()) };
    let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| format!("{file}: {error}"))?;
    fs::write(root.join(FACTS), facts(&document)?).map_err(|error| format!("{FACTS}: {error}"))?;
    say(&format!("provider-facts: {FACTS}"));
    Ok(())
}

fn facts(document: &Value) -> Result<String, Failure> {
    let operations = operations(document)?;
    let schemas = object(&document["components"]["schemas"], "components.schemas")?;
    let mut text = "{\n\"operations\": {\n".to_owned();
    write_lines(&mut text, &operations, "");
    text.push_str("\n},\n\"schemas\": {\n");
    for (no, (name, schema)) in schemas.iter().enumerate() {
        let separator = if no == 0 { "" } else { ",\n" };
        let name = json!(name);
        match schema.get("properties") {
            None => {
                let _ = write!(text, "{separator}{name}: {}", Value::Object(of_type(schema)));
            }
            Some(properties) => {
                let _ = writeln!(text, "{separator}{name}: {{\"fields\": {{");
                write_lines(&mut text, &fields(object(properties, "properties")?, &schema["required"]), "  ");
                text.push_str("\n}}");
            }
        }
    }
    text.push_str("\n}\n}\n");
    Ok(text)
}

/// Writes the entries of an object, one on each line.
fn write_lines(text: &mut String, entries: &BTreeMap<String, Value>, indentation: &str) {
    let lines: Vec<String> =
        entries.iter().map(|(name, value)| format!("{indentation}{}: {value}", json!(name))).collect();
    text.push_str(&lines.join(",\n"));
}

/// By method and path: the id, the schema of the request, and the schema of the response to each status.
fn operations(document: &Value) -> Result<BTreeMap<String, Value>, Failure> {
    let mut operations = BTreeMap::new();
    for (path, item) in object(&document["paths"], "paths")? {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let responses = object(&operation["responses"], path)?.iter();
            let responses: Map<String, Value> =
                responses.map(|(status, response)| (status.clone(), name_at(response))).collect();
            let facts = json!({ "id": operation["operationId"], "request": name_at(&operation["requestBody"]), "responses": responses });
            operations.insert(format!("{} {path}", method.to_uppercase()), facts);
        }
    }
    Ok(operations)
}

/// The name of the schema of a request or a response; null when it has no body.
fn name_at(body: &Value) -> Value {
    body.pointer(SCHEMA).map_or(Value::Null, |schema| json!(schema["$ref"].as_str().map(last)))
}

fn fields(properties: &Map<String, Value>, required: &Value) -> BTreeMap<String, Value> {
    let required = required.as_array().map_or(&[][..], Vec::as_slice);
    let of_field = |(name, property): (&String, &Value)| {
        let mut facts = of_type(property);
        if required.contains(&json!(name)) {
            facts.insert("required".to_owned(), json!(true));
        }
        (name.clone(), Value::Object(facts))
    };
    properties.iter().map(of_field).collect()
}

fn of_type(schema: &Value) -> Map<String, Value> {
    let mut facts = Map::new();
    for name in OF_TYPE {
        if let Some(value) = schema.get(name) {
            facts.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(reference) = schema["$ref"].as_str() {
        facts.insert("schema".to_owned(), json!(last(reference)));
    }
    for (name, inner) in [("items", &schema["items"]), ("values", &schema["additionalProperties"])] {
        if inner.is_object() {
            facts.insert(name.to_owned(), Value::Object(of_type(inner)));
        }
    }
    facts
}

/// The last part of a reference: the name of the schema.
fn last(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, Failure> {
    value.as_object().ok_or_else(|| format!("{place} is not an object: the file is not an OpenAPI document"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_have_no_texts_and_one_line_for_each_operation_and_field() {
        let of = |name: &str| json!({"content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{name}")}}}});
        let document = json!({
            "paths": {"/app": {"post": {"operationId": "create", "summary": "Words", "requestBody": of("In"),
                "responses": {"201": of("Out"), "204": {"description": "Words"}}}}},
            "components": {"schemas": {
                "Out": {"type": "object", "description": "Words", "required": ["id"], "properties": {
                    "id": {"type": "string", "example": "Words", "maxLength": 3},
                    "tags": {"type": "array", "nullable": true, "items": {"$ref": "#/components/schemas/Tag"}}}},
                "Tag": {"type": "integer", "enum": [0, 1], "description": "Words"}}}});
        let text = facts(&document).unwrap();
        let expected = r#"{
"operations": {
"POST /app": {"id":"create","request":"In","responses":{"201":"Out","204":null}}
},
"schemas": {
"Out": {"fields": {
  "id": {"required":true,"type":"string"},
  "tags": {"items":{"schema":"Tag"},"nullable":true,"type":"array"}
}},
"Tag": {"enum":[0,1],"type":"integer"}
}
}
"#;
        let sorted = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(sorted(&text), sorted(expected));
        assert_eq!(text.lines().count(), expected.lines().count());
        assert!(facts(&json!({})).is_err());
    }
}
