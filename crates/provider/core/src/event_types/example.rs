//! An example of an event type's payload: an example in its schema, or a value that is generated from the schema.

use serde_json::{Map, Value, json};

/// Maximum depth of a generated value. Deeper values are omitted.
const DEPTH_MAX: usize = 32;
const VALUES_MAX: usize = 10_000;
/// Maximum number of entries and characters in generated arrays and strings, whatever the schema requires.
const ENTRIES_MAX: u64 = 10;
const CHARS_MAX: u64 = 1_000;
const UUID: &str = "018f4e5a-7b1c-7d2e-8f3a-9b4c5d6e7f80";

/// Why there is no example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoExample {
    /// The schema has fewer examples than the index requires.
    Index {
        /// Number of examples in the schema.
        count: usize,
    },
    /// There is no schema of version 1 that describes an object.
    Schema,
}

/// The example at `index` (the first when none) of the schema of version 1, or a value that is generated from the
/// schema.
pub(crate) fn of_schemas(schemas: Option<&Value>, index: Option<usize>) -> Result<Value, NoExample> {
    let schema = schemas.and_then(|schemas| schemas.get("1")).ok_or(NoExample::Schema)?;
    let example = match schema.get("examples").and_then(Value::as_array).filter(|examples| !examples.is_empty()) {
        Some(examples) => {
            let index = index.unwrap_or_default();
            examples.get(index).cloned().ok_or(NoExample::Index { count: examples.len() })?
        }
        None => ExampleGenerator { root: schema, values: 0 }.make(schema, 0).unwrap_or(Value::Null),
    };
    if example.is_object() { Ok(example) } else { Err(NoExample::Schema) }
}

struct ExampleGenerator<'a> {
    root: &'a Value,
    values: usize,
}

impl ExampleGenerator<'_> {
    /// Generates a value. None when it would be too deep or too large, or when no value fits the schema.
    fn make(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.values += 1;
        if depth >= DEPTH_MAX || self.values > VALUES_MAX {
            return None;
        }
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(true) => return Some(json!({})),
            _ => return None,
        };
        if let Some(given) = given(schema) {
            return Some(given.clone());
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.strip_prefix('#')?)?.clone();
            return self.make(&target, depth + 1);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.make_all(schema, parts, depth);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(alternatives) = schema.get(keyword).and_then(Value::as_array) {
                let made = alternatives.iter().find_map(|schema| self.make(schema, depth + 1));
                // Properties beside `oneOf` or `anyOf` apply to all alternatives.
                return match (made, schema.contains_key("properties")) {
                    (Some(Value::Object(made)), true) => {
                        let mut object = self.make_object(schema, depth);
                        object.extend(made);
                        Some(Value::Object(object))
                    }
                    (made, _) => made,
                };
            }
        }
        match kind(schema) {
            "object" => Some(Value::Object(self.make_object(schema, depth))),
            "array" => Some(Value::Array(self.make_array(schema, depth))),
            "string" => Some(Value::String(text(schema))),
            "integer" => Some(number(schema, 1.0)),
            "number" => Some(number(schema, 0.5)),
            "boolean" => Some(Value::Bool(true)),
            _ => Some(Value::Null),
        }
    }

    fn make_object(&mut self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let made = properties.into_iter().flatten();
        made.filter_map(|(name, schema)| Some((name.clone(), named(name, schema, self.make(schema, depth + 1)?))))
            .collect()
    }

    fn make_array(&mut self, schema: &Map<String, Value>, depth: usize) -> Vec<Value> {
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        let mut made: Vec<Value> = prefix.into_iter().flatten().filter_map(|item| self.make(item, depth + 1)).collect();
        let Some(items) = schema.get("items").filter(|items| items.is_object()) else { return made };
        let count = limit(schema, "minItems").unwrap_or(1).clamp(1, ENTRIES_MAX) as usize;
        while made.len() < count {
            match self.make(items, depth + 1) {
                Some(item) => made.push(item),
                None => break,
            }
        }
        made
    }

    /// Merges the objects of all parts into one. If the first part is no object, its value is returned.
    fn make_all(&mut self, schema: &Map<String, Value>, parts: &[Value], depth: usize) -> Option<Value> {
        let mut object = self.make_object(schema, depth);
        for part in parts {
            match self.make(part, depth + 1)? {
                Value::Object(part) => object.extend(part),
                other if object.is_empty() => return Some(other),
                _ => {}
            }
        }
        Some(Value::Object(object))
    }
}

/// Replaces a generated text with one that suits the property's name, if the schema allows any text.
fn named(name: &str, schema: &Value, made: Value) -> Value {
    let limits = ["format", "pattern", "minLength", "maxLength", "const", "enum", "examples", "example", "default"];
    if made != json!("string") || limits.iter().any(|limit| schema.get(limit).is_some()) {
        return made;
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let (plain, about) = (name.to_ascii_lowercase(), description.to_ascii_lowercase());
    let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
    let example = match () {
        () if ends(&["uuid", "guid"]) || about.starts_with("uuid") => uuid(name),
        () if ends(&["email"]) => "someone@example.com".to_owned(),
        () if ends(&["url", "uri", "href"]) => "https://example.com/".to_owned(),
        () if ends(&["currency"]) => "EUR".to_owned(),
        () if ends(&["country"]) => "GB".to_owned(),
        () if ends(&["language", "locale"]) => "en".to_owned(),
        () if ends(&["timezone"]) => "Europe/London".to_owned(),
        () if ends(&["phone"]) => "+442079460000".to_owned(),
        () if ends(&["date"]) => "2026-01-31".to_owned(),
        () if ends(&["time", "timestamp"]) || (name.ends_with("At") && name.len() > 2) => {
            "2026-01-31T12:00:00Z".to_owned()
        }
        () if ends(&["amount", "price"]) => "120.00".to_owned(),
        () if ends(&["status"]) => status(&about).to_owned(),
        () if plain == "id" || name.ends_with("Id") || name.ends_with("_id") => uuid(name),
        () => match quoted(description) {
            Some(word) => word.to_owned(),
            None if ends(&["name", "title"]) => "An example".to_owned(),
            None => return made,
        },
    };
    json!(example)
}

/// A status that suits the description. The values are those of auctions, because most accounts send events of
/// auctions.
fn status(about: &str) -> &'static str {
    match () {
        () if about.contains("item") || about.contains("lot") => "SOLD",
        () if about.contains("auction") => "LIVE",
        () => "ACTIVE",
    }
}

/// An example in a description: a word in quotes or backticks, or in capital letters after "such as" or "one of".
fn quoted(description: &str) -> Option<&str> {
    for mark in ['`', '"'] {
        let mut parts = description.split(mark);
        if let (Some(_), Some(word), Some(_)) = (parts.next(), parts.next(), parts.next()) {
            return Some(word).filter(|word| !word.is_empty() && word.len() <= 100);
        }
    }
    let (_, list) = description.split_once("such as ").or_else(|| description.split_once("ne of "))?;
    let word = list.split([' ', ',', '.', ';']).next()?;
    let is_name = word.len() > 1 && word.chars().all(|char| char.is_ascii_uppercase() || "_0123456789".contains(char));
    is_name.then_some(word)
}

/// A UUID of version 7 that is derived from the name.
fn uuid(name: &str) -> String {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{}-{:04x}-{:012x}", &UUID[..18], 0x8000 | (hash >> 48) & 0x3fff, hash & 0xffff_ffff_ffff)
}

fn given(schema: &Map<String, Value>) -> Option<&Value> {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|values| values.first());
    first("examples")
        .or_else(|| schema.get("example"))
        .or_else(|| schema.get("const"))
        .or_else(|| schema.get("default"))
        .or_else(|| first("enum"))
}

/// The type in the schema: the first one that is not null, or the type that other keywords imply.
fn kind(schema: &Map<String, Value>) -> &str {
    let declared = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    match declared {
        Some(kind) => kind,
        None if schema.contains_key("type") => "null",
        None if schema.contains_key("items") || schema.contains_key("prefixItems") => "array",
        None if schema.contains_key("minLength") || schema.contains_key("pattern") || schema.contains_key("format") => {
            "string"
        }
        None if schema.contains_key("minimum") || schema.contains_key("maximum") => "number",
        None => "object",
    }
}

fn text(schema: &Map<String, Value>) -> String {
    let fixed = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("email" | "idn-email") => "someone@example.com",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("uri" | "iri" | "uri-reference" | "iri-reference") => "https://example.com/",
        Some("uuid") => UUID,
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        _ => "string",
    };
    let least = limit(schema, "minLength").unwrap_or(0).min(CHARS_MAX) as usize;
    let most = limit(schema, "maxLength").unwrap_or(CHARS_MAX) as usize;
    let mut text = fixed.to_owned();
    while text.len() < least {
        text.push('x');
    }
    text.truncate(most);
    text
}

/// A number within the schema's bounds: `wanted`, if it is within them.
fn number(schema: &Map<String, Value>, wanted: f64) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = if kind(schema) == "integer" { 1.0 } else { 0.5 };
    let least = bound("minimum").or_else(|| Some(bound("exclusiveMinimum")? + step));
    let most = bound("maximum").or_else(|| Some(bound("exclusiveMaximum")? - step));
    let mut number = wanted.max(least.unwrap_or(wanted)).min(most.unwrap_or(f64::MAX));
    if let Some(multiple) = bound("multipleOf").filter(|multiple| *multiple > 0.0) {
        number = (number / multiple).ceil() * multiple;
    }
    if kind(schema) == "integer" || number.fract() == 0.0 { json!(number.ceil() as i64) } else { json!(number) }
}

fn limit(schema: &Map<String, Value>, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: &Value) -> Value {
        of_schemas(Some(&json!({"1": schema})), None).unwrap()
    }

    #[test]
    fn an_example_in_the_schema_is_used_unchanged() {
        let schemas = json!({"1": {"type": "object", "examples": [{"a": 1}, {"a": 2}, 3]}});
        assert_eq!(of_schemas(Some(&schemas), None), Ok(json!({"a": 1})));
        assert_eq!(of_schemas(Some(&schemas), Some(1)), Ok(json!({"a": 2})));
        assert_eq!(of_schemas(Some(&schemas), Some(2)), Err(NoExample::Schema), "a payload is an object");
        assert_eq!(of_schemas(Some(&schemas), Some(3)), Err(NoExample::Index { count: 3 }));
        for none in [json!({}), json!({"2": {"type": "object"}}), json!({"1": {"type": "string"}})] {
            assert_eq!(of_schemas(Some(&none), Some(7)), Err(NoExample::Schema), "{none}");
        }
        assert_eq!(of_schemas(None, None), Err(NoExample::Schema));
    }

    #[test]
    fn a_generated_value_matches_its_schema() {
        for schema in [
            json!({"type": "object"}),
            json!({"required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": ["null", "integer"]}}}),
            json!({"type": "object", "properties": {"at": {"type": "string", "format": "date-time"},
                "id": {"type": "string", "format": "uuid"}, "mail": {"type": "string", "format": "email"},
                "short": {"type": "string", "maxLength": 3}, "long": {"type": "string", "minLength": 30}},
                "required": ["at", "id", "mail", "short", "long"]}),
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 7, "multipleOf": 5},
                "x": {"type": "number", "exclusiveMaximum": -1}, "y": {"type": "integer", "exclusiveMinimum": 3}},
                "required": ["n", "x", "y"]}),
            json!({"type": "object", "properties": {"list": {"type": "array", "items": {"enum": ["b", "a"]},
                "minItems": 3}, "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}]}},
                "required": ["list"]}),
            json!({"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"c": {"const": 3}}, "required": ["c"]}],
                "$defs": {"a": {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"]}}}),
            json!({"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k", "w"],
                "oneOf": [{"properties": {"w": {"const": 1}}}, {"properties": {"w": {"const": 2}}}]}),
            json!({"type": "object", "properties": {"self": {"$ref": "#"}, "d": {"default": 5}}, "required": ["d"]}),
        ] {
            let value = made(&schema);
            let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
            let faults: Vec<String> = validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
            assert!(faults.is_empty(), "{schema}\n{value}\n{faults:?}");
        }
    }

    #[test]
    fn a_property_of_any_text_gets_a_text_that_suits_its_name() {
        let text = json!({"type": "string"});
        let short = json!({"type": "string", "maxLength": 6});
        let about = |about: &str| json!({"type": "string", "description": about});
        let value = made(&json!({"type": "object", "properties": {
            "itemUuid": text, "auctionUuid": text, "shortUuid": short,
            "status": about("Name of the item's new status"), "state": about("One of OPEN, CLOSED"),
            "kind": about("Such as `timed`."), "createdAt": text, "note": text,
        }}));
        let [item, auction] = ["itemUuid", "auctionUuid"].map(|name| value[name].as_str().unwrap().to_owned());
        assert_ne!(item, auction);
        for id in [&item, &auction] {
            let schema = json!({"type": "string", "format": "uuid"});
            let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
            assert!(validator.is_valid(&json!(id)), "{id}");
            assert_eq!((&id[14..15], &id[19..20] >= "8"), ("7", true), "{id}");
        }
        let rest = ["shortUuid", "status", "state", "kind", "createdAt", "note"].map(|name| value[name].clone());
        assert_eq!(json!(rest), json!(["string", "SOLD", "OPEN", "timed", "2026-01-31T12:00:00Z", "string"]));
    }

    #[test]
    fn a_recursive_schema_makes_a_finite_value() {
        let each: Map<String, Value> = (0..10).map(|n| (format!("p{n}"), json!({"$ref": "#"}))).collect();
        let value = made(&json!({"type": "object", "properties": each}));
        assert!(value.to_string().len() < 1_000_000);
    }
}
