//! The schema of an event type in a form: as a table of properties, or as JSON.

use kit_design::fields::FormFields;
use provider_core::{CheckedSchemas, SchemaFault};
use serde_json::{Map, Value, json};

use super::json_lines::line_of;

/// Types that the table offers.
pub(super) const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "object", "array"];
/// Properties that a form has at most. The form has three fields for each.
const PROPERTIES_MAX: usize = 200;
/// Empty rows below the properties that are filled in.
const EMPTY_ROWS: usize = 2;
/// Rows of the table of a new event type.
const ROWS_MIN: usize = 4;
const VERSION_BYTES_MAX: usize = 20;

/// Where the schema is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SchemaSource {
    /// The event type has no schema.
    None,
    /// The table of properties.
    #[default]
    Table,
    /// The JSON text.
    Json,
}

/// A property of the payload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) is_required: bool,
}

/// What the visitor entered about the schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SchemaForm {
    pub(super) source: SchemaSource,
    /// Version key.
    pub(super) version: String,
    pub(super) title: String,
    pub(super) properties: Vec<Property>,
    pub(super) json: String,
    /// The table can show the whole schema.
    pub(super) fits_table: bool,
}

impl SchemaForm {
    /// The form of an event type without a schema.
    pub(super) fn empty() -> Self {
        Self { version: "1".to_owned(), properties: with_empty_rows(Vec::new()), fits_table: true, ..Self::default() }
    }

    /// The form of the newest version of these schemas.
    pub(super) fn of(schemas: Option<&Value>) -> Self {
        match versions_newest_first(schemas).first() {
            None => Self { source: SchemaSource::None, ..Self::empty() },
            Some((version, schema)) => Self::of_version(version, schema),
        }
    }

    fn of_version(version: &str, schema: &Value) -> Self {
        let properties = table_of(schema);
        Self {
            source: if properties.is_some() { SchemaSource::Table } else { SchemaSource::Json },
            version: version.to_owned(),
            title: text(schema, "title"),
            fits_table: properties.is_some(),
            properties: with_empty_rows(properties.unwrap_or_default()),
            json: serde_json::to_string_pretty(schema).unwrap_or_default(),
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        let mut kinds = form.all("propertyType");
        let mut descriptions = form.all("propertyDescription");
        let required: Vec<&str> = form.all("propertyRequired").collect();
        let property = |(no, name): (usize, &str)| Property {
            name: name.trim().to_owned(),
            kind: kinds.next().unwrap_or("string").to_owned(),
            description: descriptions.next().unwrap_or_default().trim().to_owned(),
            is_required: required.contains(&no.to_string().as_str()),
        };
        let properties = form.all("propertyName").take(PROPERTIES_MAX).enumerate().map(property).collect();
        Self {
            source: match form.text("schema") {
                "none" => SchemaSource::None,
                "json" => SchemaSource::Json,
                _ => SchemaSource::Table,
            },
            version: form.text("version").to_owned(),
            title: form.text("title").to_owned(),
            properties,
            json: form.text("json").replace("\r\n", "\n"),
            fits_table: form.text("fitsTable") != "no",
        }
    }

    /// The same form with the table and the JSON text showing `schema`.
    pub(super) fn showing(&self, schema: &Value) -> Self {
        Self { source: self.source, ..Self::of_version(&self.version, schema) }
    }

    /// The same form with room for more properties.
    pub(super) fn with_rows(mut self) -> Self {
        let filled = self.properties.iter().filter(|property| !property.is_empty()).cloned().collect();
        self.properties = with_empty_rows(filled);
        self
    }

    /// The event type's schemas with this version in its place, checked; none when the event type has no schema. The error
    /// says what is wrong and where.
    pub(super) fn check(&self, before: Option<&Value>, description: &str) -> Result<Option<CheckedSchemas>, String> {
        if self.source == SchemaSource::None {
            return Ok(None);
        }
        if self.version.is_empty() || self.version.len() > VERSION_BYTES_MAX {
            return Err(format!("The version key must have 1 to {VERSION_BYTES_MAX} bytes, such as 1."));
        }
        let schema = if self.source == SchemaSource::Table { self.of_table(description)? } else { self.of_json()? };
        let mut schemas = before.and_then(Value::as_object).cloned().unwrap_or_default();
        schemas.insert(self.version.clone(), schema);
        CheckedSchemas::check(Value::Object(schemas)).map(Some).map_err(|faults| self.explain(&faults))
    }

    fn of_table(&self, description: &str) -> Result<Value, String> {
        let filled: Vec<&Property> = self.properties.iter().filter(|property| !property.is_empty()).collect();
        if filled.is_empty() {
            return Err("Enter at least one property, or choose that the event type has no schema.".to_owned());
        }
        let mut properties = Map::new();
        for property in &filled {
            if property.name.is_empty() {
                return Err("Each property needs a name. Clear the rows that you don't use.".to_owned());
            }
            let mut own = Map::new();
            if !property.description.is_empty() {
                own.insert("description".to_owned(), json!(property.description));
            }
            own.insert("type".to_owned(), json!(property.kind));
            if properties.insert(property.name.clone(), Value::Object(own)).is_some() {
                return Err(format!("The property \"{}\" is entered twice. Remove one of them.", property.name));
            }
        }
        let required: Vec<&str> =
            filled.iter().filter(|property| property.is_required).map(|property| property.name.as_str()).collect();
        let mut schema = Map::new();
        if !description.is_empty() {
            schema.insert("description".to_owned(), json!(description));
        }
        if !self.title.is_empty() {
            schema.insert("title".to_owned(), json!(self.title));
        }
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("required".to_owned(), json!(required));
        Ok(Value::Object(schema))
    }

    fn of_json(&self) -> Result<Value, String> {
        serde_json::from_str(&self.json).map_err(|error| {
            // The library's text ends with its own words for the place.
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or_default().to_owned();
            format!("Line {}, column {}: this is not JSON ({text}).", error.line(), error.column())
        })
    }

    fn explain(&self, faults: &[SchemaFault]) -> String {
        let explain = |fault: &SchemaFault| {
            let is_shown = fault.version.as_ref().is_none_or(|version| *version == self.version);
            let place = match (is_shown, self.source) {
                (false, _) => format!("Version {}: ", fault.version.as_deref().unwrap_or_default()),
                (true, SchemaSource::Json) => {
                    line_of(&self.json, &fault.pointer).map_or(String::new(), |line| format!("Line {line}: "))
                }
                (true, _) => String::new(),
            };
            format!("{place}the schema {}.", fault.text)
        };
        faults.iter().map(explain).collect::<Vec<_>>().join(" ")
    }
}

impl Property {
    fn is_empty(&self) -> bool {
        self.name.is_empty() && self.description.is_empty()
    }
}

fn with_empty_rows(mut properties: Vec<Property>) -> Vec<Property> {
    let rows = (properties.len() + EMPTY_ROWS).clamp(ROWS_MIN, PROPERTIES_MAX);
    properties
        .resize_with(rows.max(properties.len()), || Property { kind: "string".to_owned(), ..Property::default() });
    properties
}

/// The schemas by version key, the newest version first.
pub(super) fn versions_newest_first(schemas: Option<&Value>) -> Vec<(&str, &Value)> {
    let versions = schemas.and_then(Value::as_object).into_iter().flatten();
    let mut versions: Vec<(&str, &Value)> = versions.map(|(version, schema)| (version.as_str(), schema)).collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse((version.parse::<u64>().ok(), (*version).to_owned())));
    versions
}

/// The properties at the top of a schema, for reading.
pub(super) fn properties(schema: &Value) -> Vec<Property> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|own| own == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .map(|(name, property)| Property {
            name: name.clone(),
            kind: match property.get("type") {
                Some(Value::String(kind)) => kind.clone(),
                Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
                _ => "any".to_owned(),
            },
            description: text(property, "description"),
            is_required: is_required(name),
        })
        .collect()
}

/// The properties, if the table shows the whole schema: nothing would be lost by saving the table.
fn table_of(schema: &Value) -> Option<Vec<Property>> {
    let keywords = schema.as_object()?;
    let known = ["description", "title", "type", "properties", "required"];
    let is_simple = |property: &Value| {
        let kind = property.get("type").and_then(Value::as_str);
        let keywords = property.as_object();
        kind.is_some_and(|kind| TYPES.contains(&kind))
            && keywords.is_some_and(|keywords| keywords.keys().all(|key| key == "type" || key == "description"))
    };
    let listed = schema.get("properties").and_then(Value::as_object)?;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let fits = keywords.keys().all(|key| known.contains(&key.as_str()))
        && schema.get("type").and_then(Value::as_str) == Some("object")
        && listed.values().all(is_simple)
        && listed.len() <= PROPERTIES_MAX
        && required.into_iter().all(|name| name.as_str().is_some_and(|name| listed.contains_key(name)));
    fits.then(|| properties(schema))
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Value {
        json!({"1": {"description": "d", "title": "Item status changed", "type": "object",
            "properties": {"itemUuid": {"description": "UUID", "type": "string"}, "lot": {"type": "integer"}},
            "required": ["itemUuid"]}})
    }

    #[test]
    fn a_simple_schema_is_the_same_after_it_was_shown_in_the_table() {
        let schemas = item();
        let form = SchemaForm::of(Some(&schemas));
        assert_eq!((form.source, form.version.as_str()), (SchemaSource::Table, "1"));
        assert_eq!(form.properties.len(), ROWS_MIN);
        let checked = form.check(Some(&schemas), "d").unwrap().unwrap();
        assert_eq!(checked.schemas, schemas);
        let added = SchemaForm { version: "2".to_owned(), ..form }.check(Some(&schemas), "d").unwrap().unwrap();
        assert_eq!(added.schemas.as_object().unwrap().len(), 2, "the other versions stay");
    }

    #[test]
    fn a_schema_that_the_table_can_not_show_is_edited_as_json() {
        for keyword in [json!({"type": "string", "format": "uuid"}), json!({"type": ["string", "null"]}), json!({})] {
            let schemas = json!({"1": {"type": "object", "properties": {"a": keyword}}});
            let form = SchemaForm::of(Some(&schemas));
            assert_eq!((form.source, form.fits_table), (SchemaSource::Json, false), "{schemas}");
        }
        assert_eq!(SchemaForm::of(None).source, SchemaSource::None);
        assert_eq!(SchemaForm::of(Some(&json!({"1": {"a": 1}, "10": {}, "9": {}}))).version, "10");
    }

    #[test]
    fn an_error_names_its_line() {
        let form = |json: &str| SchemaForm {
            source: SchemaSource::Json,
            version: "1".to_owned(),
            json: json.to_owned(),
            ..SchemaForm::default()
        };
        let fault = |json: &str| form(json).check(None, "").unwrap_err();
        assert!(
            fault("{\n  \"type\": }").starts_with("Line 2, column 11: this is not JSON"),
            "{}",
            fault("{\n  \"type\": }")
        );
        let text = fault("{\n  \"properties\": {\n    \"a\": {\"type\": \"strnig\"}\n  }\n}");
        assert!(text.starts_with("Line 3: the schema is not a JSON Schema: at /properties/a/type"), "{text}");
        assert!(form("{\"type\": \"OBJECT\"}").check(None, "").is_ok(), "type names in upper case are accepted");
    }

    #[test]
    fn a_table_needs_names_that_differ() {
        let property = |name: &str| Property { name: name.into(), kind: "string".into(), ..Property::default() };
        let form = |names: &[&str]| SchemaForm {
            version: "1".to_owned(),
            properties: names.iter().map(|name| property(name)).collect(),
            ..SchemaForm::default()
        };
        assert!(form(&["a", "", "b"]).check(None, "").is_ok(), "empty rows are ignored");
        assert!(form(&["a", "a"]).check(None, "").unwrap_err().contains("twice"));
        assert!(form(&["", ""]).check(None, "").unwrap_err().contains("at least one property"));
    }
}
