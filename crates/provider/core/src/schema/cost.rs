//! Limits the cost of validating a payload with a schema. References make a small schema large: if each of `n`
//! definitions refers to the next one twice, there are 2ⁿ subschemas, and a payload would keep a thread busy for hours.
//!
//! The cost is the number of subschemas after all references are expanded. Counting stops at a reference to an
//! enclosing subschema; such a schema is recursive. The validator caches whether each part of a payload matches a
//! recursive schema, but listing all faults may visit every path through the schema.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Maximum number of subschemas after references are expanded.
const SUBSCHEMAS_MAX: u64 = 1_000_000;
/// Maximum number of subschemas that apply to the same part of a payload.
const AT_ONE_PLACE_MAX: u64 = 1_000;
/// Maximum nesting depth of subschemas.
const DEPTH_MAX: usize = 500;
/// Maximum number of references by name, because each needs a search of the schema. JSON pointers (`#/$defs/…`) are not
/// counted.
const SEARCHES_MAX: usize = 1_000;
/// The assumed cost of a reference to a meta-schema.
const META: Cost = Cost { here: 100, whole: 1_000 };

/// Keywords with subschemas for the same part of the payload. `CHILD_KEYWORDS` have subschemas for its children.
const SAME_VALUE_KEYWORDS: [&str; 10] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef"];
const SAME_VALUE_MAP_KEYWORDS: [&str; 2] = ["dependentSchemas", "dependencies"];
const CHILD_KEYWORDS: [&str; 9] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
];
const CHILD_MAP_KEYWORDS: [&str; 2] = ["properties", "patternProperties"];

/// Whether a schema contains a reference to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The schema is finite: all faults of a payload can be listed.
    Finite,
    /// The schema is recursive.
    Recursive,
}

/// The shape of a schema whose cost is within the limits. The error is a text for the caller who sent the schema.
pub(crate) fn shape(schema: &Value) -> Result<Shape, String> {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let id_keyword = if draft.contains("draft-04") { "id" } else { "$id" };
    let mut count = CostCounter { root: schema, id_keyword, known: HashMap::new(), searches: 0, shape: Shape::Finite };
    let cost = count.subschema(schema, schema, 0)?;
    if cost.whole > SUBSCHEMAS_MAX {
        return Err(format!("has more than {SUBSCHEMAS_MAX} subschemas when its references are written out"));
    }
    Ok(count.shape)
}

/// Number of subschemas for one part of a payload (`here`), and in total (`whole`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    here: u64,
    whole: u64,
}

struct CostCounter<'a> {
    root: &'a Value,
    /// The keyword that makes a subschema a separate resource.
    id_keyword: &'static str,
    /// Costs by the address of the subschema in memory; none while it is being counted.
    known: HashMap<*const Value, Option<Cost>>,
    searches: usize,
    shape: Shape,
}

impl<'a> CostCounter<'a> {
    /// The cost of a subschema. References within it are relative to `base`.
    fn subschema(&mut self, base: &'a Value, schema: &'a Value, depth: usize) -> Result<Cost, String> {
        let Value::Object(keywords) = schema else { return Ok(Cost { here: 1, whole: 1 }) };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(cost)) => return Ok(*cost),
            Some(None) => {
                self.shape = Shape::Recursive;
                return Ok(Cost { here: 0, whole: 0 });
            }
            None => {}
        }
        if depth > DEPTH_MAX {
            return Err(format!("has more than {DEPTH_MAX} subschemas within each other"));
        }
        self.known.insert(std::ptr::from_ref(schema), None);
        let base = if self.own_id(schema).is_some() { schema } else { base };
        let mut cost = Cost { here: 1, whole: 1 };
        for (base, part) in self.parts(base, keywords, &SAME_VALUE_KEYWORDS, &SAME_VALUE_MAP_KEYWORDS)? {
            let part = part.map_or(Ok(META), |part| self.subschema(base, part, depth + 1))?;
            cost.here = cost.here.saturating_add(part.here);
            cost.whole = cost.whole.saturating_add(part.whole);
        }
        if cost.here > AT_ONE_PLACE_MAX {
            return Err(format!("holds more than {AT_ONE_PLACE_MAX} subschemas against the same part of a payload"));
        }
        for (base, part) in self.parts(base, keywords, &CHILD_KEYWORDS, &CHILD_MAP_KEYWORDS)? {
            let part = part.map_or(Ok(META), |part| self.subschema(base, part, depth + 1))?;
            cost.whole = cost.whole.saturating_add(part.whole);
        }
        self.known.insert(std::ptr::from_ref(schema), Some(cost));
        Ok(cost)
    }

    /// The subschemas of these keywords, each with its base. The subschema is none for a meta-schema.
    fn parts(
        &mut self,
        base: &'a Value,
        keywords: &'a Map<String, Value>,
        names: &[&str],
        by_name: &[&str],
    ) -> Result<Vec<(&'a Value, Option<&'a Value>)>, String> {
        let mut parts = Vec::new();
        for name in names {
            match keywords.get(*name) {
                Some(Value::Array(several)) => parts.extend(several.iter().map(|part| (base, Some(part)))),
                Some(Value::String(reference)) if name.starts_with('$') => parts.push(self.target(base, reference)?),
                Some(part @ Value::Object(_)) => parts.push((base, Some(part))),
                _ => {}
            }
        }
        for named in by_name.iter().filter_map(|name| keywords.get(*name)?.as_object()) {
            parts.extend(named.values().map(|part| (base, Some(part))));
        }
        Ok(parts)
    }

    /// The target of a reference, with its base. The target is none for a meta-schema.
    fn target(&mut self, base: &'a Value, reference: &str) -> Result<(&'a Value, Option<&'a Value>), String> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let by_place = fragment.is_empty() || fragment.starts_with('/');
        self.searches += usize::from(!resource.is_empty() || !by_place);
        if self.searches > SEARCHES_MAX {
            return Err(format!("has more than {SEARCHES_MAX} references by name: write #/$defs/…"));
        }
        let base = match resource {
            "" => Some(base),
            _ => find(self.root, &|value| self.own_id(value).is_some_and(|id| is_same(id, resource))),
        };
        let found = base.and_then(|base| match fragment.strip_prefix('/') {
            Some(pointer) => self.walk(base, pointer),
            None if fragment.is_empty() => Some((base, base)),
            None => find(base, &|value| has_anchor(value, fragment)).map(|found| (base, found)),
        });
        let is_meta = ["http://json-schema.org/", "https://json-schema.org/"].iter().any(|of| resource.starts_with(of));
        match found {
            Some((base, target)) => Ok((base, Some(target))),
            None if is_meta => Ok((self.root, None)),
            None => Err(format!("refers to {reference}, which can't be followed here: write #/$defs/…")),
        }
    }

    /// The value at a JSON pointer without its first slash, with its base.
    fn walk(&self, base: &'a Value, pointer: &str) -> Option<(&'a Value, &'a Value)> {
        let (mut base, mut value) = (base, base);
        for word in pointer.split('/') {
            let word = decoded(word)?.replace("~1", "/").replace("~0", "~");
            value = match value {
                Value::Object(object) => object.get(&word)?,
                Value::Array(array) => array.get(word.parse::<usize>().ok()?)?,
                _ => return None,
            };
            if self.own_id(value).is_some() {
                base = value;
            }
        }
        Some((base, value))
    }

    fn own_id<'b>(&self, schema: &'b Value) -> Option<&'b str> {
        schema.get(self.id_keyword)?.as_str().filter(|id| !id.starts_with('#'))
    }
}

/// Decodes the percent-encoding of a part of a URI fragment. None when the result is not UTF-8.
fn decoded(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                rest = after;
                u8::from_str_radix(std::str::from_utf8(&[*high, *low]).ok()?, 16).ok()?
            }
            _ => *first,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The first value at any depth that matches.
fn find<'a>(value: &'a Value, matches: &dyn Fn(&Value) -> bool) -> Option<&'a Value> {
    if matches(value) {
        return Some(value);
    }
    match value {
        Value::Object(object) => object.values().find_map(|value| find(value, matches)),
        Value::Array(array) => array.iter().find_map(|value| find(value, matches)),
        _ => None,
    }
}

/// Whether two names of resources are equal. Either may be relative.
fn is_same(id: &str, reference: &str) -> bool {
    let id = id.trim_end_matches('#');
    id == reference || id.ends_with(&format!("/{reference}")) || reference.ends_with(&format!("/{id}"))
}

fn has_anchor(value: &Value, name: &str) -> bool {
    let is = |keyword: &str, expected: &str| value.get(keyword).and_then(Value::as_str) == Some(expected);
    is("$anchor", name) || is("$dynamicAnchor", name) || is("$id", &format!("#{name}")) || is("id", &format!("#{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A chain of definitions. `link` makes each definition from a reference to the next.
    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut definitions: Map<String, Value> =
            (0..length).map(|n| (format!("n{n}"), link(json!({"$ref": format!("#/$defs/n{}", n + 1)})))).collect();
        definitions.insert(format!("n{length}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/n0", "$defs": definitions})
    }

    #[test]
    fn a_schema_with_exponential_references_is_rejected_and_a_large_one_is_not() {
        let twice_here = |next: Value| json!({"allOf": [next, next]});
        let twice_below = |next: Value| json!({"properties": {"a": {"anyOf": [next, next]}}});
        let once = |next: Value| json!({"properties": {"a": next, "b": {"type": "string"}}});
        assert_eq!(shape(&chain(5, twice_here)), Ok(Shape::Finite));
        assert_eq!(shape(&chain(5, twice_below)), Ok(Shape::Finite));
        assert_eq!(shape(&chain(100, once)), Ok(Shape::Finite));
        for (schema, part) in [
            (chain(40, twice_here), "the same part"),
            (chain(40, twice_below), "written out"),
            (chain(1_000, once), "within each other"),
        ] {
            let error = shape(&schema).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let properties: Map<String, Value> = (0..5_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
        assert_eq!(shape(&json!({"properties": properties, "required": ["p1"]})), Ok(Shape::Finite));
    }

    #[test]
    fn a_schema_with_a_reference_to_itself_is_recursive() {
        let anchored = json!({"$defs": {"node": {"$anchor": "node", "items": {"$ref": "#node"}}}, "$ref": "#node"});
        let named = json!({"$id": "https://a.example/tree", "properties": {"left": {"$ref": "tree"}}});
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        for schema in [anchored, named, tree, json!({"$ref": "#"})] {
            assert_eq!(shape(&schema), Ok(Shape::Recursive), "{schema}");
        }
    }

    #[test]
    fn references_are_relative_to_their_resource() {
        let heavy = chain(40, |next| json!({"allOf": [next, next]}));
        let mut inner = heavy["$defs"].clone();
        inner["n0"]["$comment"] = json!("another than the outer n0");
        let schema = json!({
            "$ref": "#/$defs/inner/properties/a",
            "$defs": {"n0": {}, "inner": {"$id": "inner", "properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": inner}},
        });
        assert!(shape(&schema).is_err(), "the reference is to the inner n0");
        let escaped = json!({"$defs": {"a/b c": {"type": "string"}}, "$ref": "#/$defs/a~1b%20c"});
        assert_eq!(shape(&escaped), Ok(Shape::Finite));
        assert_eq!(shape(&json!({"$ref": "http://json-schema.org/draft-07/schema#"})), Ok(Shape::Finite));
        assert!(shape(&json!({"$ref": "#/$defs/nowhere"})).is_err());
    }
}
