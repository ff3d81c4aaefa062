//! Reads the webhooks of an OpenAPI document (3.1 `webhooks`, or `x-webhooks` before that) as event types.
//!
//! Nothing is fetched: a schema may refer only to `components` of the document, which are copied to its `$defs`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::EventTypeInput;
use crate::error::{FieldError, ProviderError, ProviderResult};

const WEBHOOKS_MAX: usize = 1_000;
/// Maximum number of schemas in `components` that one webhook refers to.
const DEFINITIONS_MAX: usize = 500;
const COMPONENTS: &str = "#/components/schemas/";
const METHODS: [&str; 7] = ["post", "put", "patch", "get", "delete", "head", "options"];

/// The document's webhooks by name.
pub(super) fn webhooks(document: &Value) -> ProviderResult<BTreeMap<String, EventTypeInput>> {
    let Some(webhooks) = section(document) else {
        return Err(fault([], "an OpenAPI document with webhooks or x-webhooks is needed"));
    };
    if webhooks.is_empty() || webhooks.len() > WEBHOOKS_MAX {
        return Err(fault(["webhooks"], format!("must have 1 to {WEBHOOKS_MAX} entries")));
    }
    webhooks.iter().map(|(name, item)| Ok((name.clone(), webhook(document, name, item)?))).collect()
}

/// The names of the document's webhooks.
pub(super) fn names(document: &Value) -> BTreeSet<String> {
    section(document).into_iter().flat_map(Map::keys).cloned().collect()
}

fn section(document: &Value) -> Option<&Map<String, Value>> {
    document.get("webhooks").or_else(|| document.get("x-webhooks"))?.as_object()
}

fn webhook(document: &Value, name: &str, item: &Value) -> ProviderResult<EventTypeInput> {
    let item = resolve(document, item);
    let Some(operation) = METHODS.iter().find_map(|method| item.get(method)?.as_object()) else {
        return Err(fault(["webhooks", name], "has no operation, such as post"));
    };
    let content = operation.get("requestBody").and_then(|body| {
        let content = resolve(document, body).get("content")?.as_object()?;
        let json = content.iter().find(|(kind, _)| kind.starts_with("application/json"));
        json.or_else(|| content.iter().find(|(kind, _)| kind.ends_with("json"))).map(|(_, media)| media)
    });
    let schema = content.and_then(|media| Some((media, media.get("schema")?)));
    let schemas = match schema {
        None => None,
        Some((media, schema)) => Some(json!({"1": self_contained(document, name, schema, examples(document, media))?})),
    };
    let text = |of: &Map<String, Value>, field: &str| of.get(field).and_then(Value::as_str).map(str::to_owned);
    let item_text = |field: &str| item.get(field).and_then(Value::as_str).map(str::to_owned);
    let description = text(operation, "description")
        .or_else(|| text(operation, "summary"))
        .or_else(|| item_text("description"))
        .or_else(|| item_text("summary"))
        .unwrap_or_default();
    let deprecated = operation.get("deprecated").and_then(Value::as_bool).unwrap_or_default();
    let mut input = EventTypeInput::imported(description, deprecated, schemas);
    input.group_name = text(operation, "x-svix-group-name");
    input.feature_flags = match operation.get("x-svix-feature-flags").or_else(|| operation.get("x-svix-feature-flag")) {
        Some(Value::String(flag)) => [flag.clone()].into(),
        Some(Value::Array(flags)) => flags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => BTreeSet::new(),
    };
    Ok(input)
}

/// Resolves a reference within the document. A value without a reference is returned unchanged.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

/// Examples of a media type, in order.
fn examples(document: &Value, media: &Value) -> Vec<Value> {
    let named = media.get("examples").and_then(Value::as_object);
    let named = named.into_iter().flatten().filter_map(|(_, example)| resolve(document, example).get("value"));
    media.get("example").into_iter().chain(named).cloned().collect()
}

/// A JSON Schema without references outside itself, with these examples before its own.
fn self_contained(document: &Value, name: &str, schema: &Value, examples: Vec<Value>) -> ProviderResult<Value> {
    let mut definitions = BTreeMap::new();
    let mut wanted = Vec::new();
    // A reference at the top is replaced by its target, so that the event type has a title and properties at the top.
    let mut top = resolve(document, schema).clone();
    translate(&mut top, &mut wanted);
    while let Some(definition) = wanted.pop() {
        if definitions.contains_key(&definition) {
            continue;
        }
        let Some(found) = document.pointer(&format!("/components/schemas/{definition}")) else {
            return Err(fault(["webhooks", name], format!("refers to {COMPONENTS}{definition}, which is not there")));
        };
        if definitions.len() >= DEFINITIONS_MAX {
            return Err(fault(["webhooks", name], format!("refers to more than {DEFINITIONS_MAX} schemas")));
        }
        let mut found = found.clone();
        translate(&mut found, &mut wanted);
        definitions.insert(definition, found);
    }
    let Value::Object(top_map) = &mut top else {
        return Err(fault(["webhooks", name], "has a schema that is not an object"));
    };
    if !examples.is_empty() {
        let own = top_map.get("examples").and_then(Value::as_array).cloned().unwrap_or_default();
        top_map.insert("examples".to_owned(), examples.into_iter().chain(own).collect());
    }
    if !definitions.is_empty() {
        let own = top_map.entry("$defs").or_insert_with(|| json!({}));
        if let Some(own) = own.as_object_mut() {
            // JSON pointers escape `/` and `~` in keys as `~1` and `~0`.
            let keyed =
                definitions.into_iter().map(|(name, schema)| (name.replace("~1", "/").replace("~0", "~"), schema));
            own.extend(keyed);
        }
    }
    Ok(top)
}

/// Translates OpenAPI keywords into JSON Schema: references to `components`, `nullable`, `example`.
fn translate(schema: &mut Value, wanted: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref")
                && let Some(definition) = reference.strip_prefix(COMPONENTS)
            {
                let definition = definition.to_owned();
                *reference = format!("#/$defs/{definition}");
                wanted.push(definition);
            }
            if map.get("nullable") == Some(&Value::Bool(true)) {
                map.shift_remove("nullable");
                if let Some(Value::String(kind)) = map.get("type").cloned() {
                    map.insert("type".to_owned(), json!([kind, "null"]));
                }
            }
            if let Some(example) = map.get("example").filter(|_| !map.contains_key("examples")).cloned()
                && map.keys().any(|key| key == "type" || key == "properties" || key == "$ref")
            {
                map.shift_remove("example");
                map.insert("examples".to_owned(), json!([example]));
            }
            map.iter_mut().filter(|(key, _)| !is_data(key)).for_each(|(_, value)| translate(value, wanted));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| translate(value, wanted)),
        _ => {}
    }
}

/// Whether this key contains values and not schemas.
fn is_data(key: &str) -> bool {
    matches!(key, "examples" | "example" | "default" | "const" | "enum")
}

fn fault<'a>(place: impl IntoIterator<Item = &'a str>, msg: impl Into<String>) -> ProviderError {
    let place = std::iter::once("spec").chain(place).map(|word| word.to_owned().into());
    ProviderError::Validation(vec![FieldError::in_body(place, msg)])
}
