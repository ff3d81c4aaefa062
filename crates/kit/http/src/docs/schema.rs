//! Renders schemas as tables of fields.

use std::fmt::Write as _;

use serde_json::Value;

use super::html::{escape, inline, paragraphs};

/// The target of a `$ref`, or the value itself.
pub(super) fn resolve_ref<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let target = value["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    target.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

/// The types of a schema; several when it may be null.
pub(super) fn type_names(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The last segment of a reference.
pub(super) fn name_of(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// The type of a value as HTML.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = escape(name_of(reference));
        return format!("<a href=\"#shape-{name}\">{name}</a>");
    }
    for (choice, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if let Some(all) = schema[choice].as_array() {
            return all.iter().map(kind).collect::<Vec<_>>().join(word);
        }
    }
    let names = type_names(schema);
    if names.is_empty() {
        return "any".to_owned();
    }
    names.into_iter().map(|name| named(schema, name)).collect::<Vec<_>>().join(" or ")
}

fn named(schema: &Value, name: &str) -> String {
    match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("map of {}", kind(&schema["additionalProperties"]))
        }
        "string" | "integer" | "number" => match schema["format"].as_str() {
            Some(format) => format!("{name} <small>{}</small>", escape(format)),
            None => name.to_owned(),
        },
        other => escape(other),
    }
}

/// The description of a value, with its limits.
pub(super) fn describe(schema: &Value) -> String {
    // utoipa puts the description of a nullable field into its alternatives.
    let of_choice = || schema["oneOf"].as_array()?.iter().find_map(|one| one["description"].as_str());
    let said = schema["description"].as_str().or_else(of_choice).unwrap_or_default();
    let mut out = inline(said);
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().filter_map(Value::as_str).map(escape).collect();
        let _ = write!(out, " <span class=\"bound\">One of <code>{}</code>.</span>", values.join("</code>, <code>"));
    }
    for (least, most, what) in [("minLength", "maxLength", "characters"), ("minItems", "maxItems", "entries")] {
        let bound = match (schema[least].as_u64().filter(|least| *least > 0), schema[most].as_u64()) {
            (Some(least), Some(most)) => format!("{least} to {most} {what}."),
            (Some(1), None) => "Not empty.".to_owned(),
            (Some(least), None) => format!("At least {least} {what}."),
            (None, Some(most)) => format!("At most {most} {what}."),
            (None, None) => continue,
        };
        let _ = write!(out, " <span class=\"bound\">{bound}</span>");
    }
    for (name, words) in [("minimum", "At least"), ("maximum", "At most")] {
        // The minimum 0 of an unsigned number is not shown.
        if let Some(number) = schema[name].as_i64().filter(|number| *number != 0) {
            let _ = write!(out, " <span class=\"bound\">{words} {number}.</span>");
        }
    }
    if let Some(default) = schema.get("default") {
        let _ = write!(out, " <span class=\"bound\">Default <code>{}</code>.</span>", escape(&default.to_string()));
    }
    out
}

/// The fields of an object as a table; empty for other schemas.
pub(super) fn fields(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else {
        return String::new();
    };
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut out = String::from("<table><thead><tr><th>Field<th>Type<th>Meaning</thead><tbody>");
    for (name, property) in properties {
        let mark = if required.contains(&name.as_str()) { "" } else { " <small>optional</small>" };
        let _ =
            write!(out, "<tr><td><code>{}</code>{mark}<td>{}<td>{}", escape(name), kind(property), describe(property));
    }
    out + "</tbody></table>"
}

/// A schema with its anchor.
pub(super) fn shape(name: &str, schema: &Value) -> String {
    let name = escape(name);
    let mut out = format!("<article class=\"shape\" id=\"shape-{name}\"><h3><a href=\"#shape-{name}\">{name}</a></h3>");
    out.push_str(&paragraphs(schema["description"].as_str().unwrap_or_default()));
    let fields = fields(schema);
    if fields.is_empty() {
        let bounds = describe(&without_description(schema));
        let _ = write!(out, "<p>{}. {bounds}</p>", kind(schema));
    }
    out.push_str(&fields);
    out + "</article>"
}

fn without_description(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(object) = &mut schema {
        object.shift_remove("description");
    }
    schema
}
