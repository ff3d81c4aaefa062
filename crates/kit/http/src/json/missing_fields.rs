//! All missing fields of an object. serde reports the first one only; the schema of the type names the others.

use std::collections::HashMap;

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{RefOr, Schema};

/// Pointers to all required fields that are absent from the object at `object`: `first`, which serde reported, and the
/// others by the schema of `T`.
pub(super) fn all<T: ToSchema>(body: &[u8], object: &str, first: &str) -> Vec<String> {
    let mut missing = vec![first.to_owned()];
    let body = serde_json::from_slice::<Value>(body).unwrap_or_default();
    if let Some(Value::Object(given)) = body.pointer(object) {
        let required = required_fields::<T>(object);
        missing.extend(required.into_iter().filter(|name| name != first && !given.contains_key(name)));
    }
    missing.into_iter().map(|name| format!("{object}/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The required fields of the object at `object` in the schema of `T`; none if the schema does not describe it.
fn required_fields<T: ToSchema>(object: &str) -> Vec<String> {
    let mut named = Vec::new();
    T::schemas(&mut named);
    let components: HashMap<_, _> = named.into_iter().collect();
    let root = T::schema();
    let mut schemas = resolve(&root, &components);
    for name in object.split('/').skip(1) {
        let parts = schemas.into_iter().filter_map(|schema| child(schema, name));
        schemas = parts.flat_map(|part| resolve(part, &components)).collect();
    }
    let required = schemas.into_iter().filter_map(|schema| match schema {
        Schema::Object(object) => Some(&object.required),
        _ => None,
    });
    required.flatten().cloned().collect()
}

/// The schemas that describe one value together: what a reference names, the parts of a flattened object, and the one
/// alternative of an optional object.
fn resolve<'a>(schema: &'a RefOr<Schema>, components: &'a HashMap<String, RefOr<Schema>>) -> Vec<&'a Schema> {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            components.get(name).map(|named| resolve(named, components)).unwrap_or_default()
        }
        RefOr::T(Schema::AllOf(parts)) => parts.items.iter().flat_map(|part| resolve(part, components)).collect(),
        RefOr::T(Schema::OneOf(parts)) => {
            let mut alternatives = parts.items.iter().filter(|part| matches!(part, RefOr::Ref(_)));
            match (alternatives.next(), alternatives.next()) {
                (Some(only), None) => resolve(only, components),
                _ => Vec::new(),
            }
        }
        RefOr::T(schema) => vec![schema],
    }
}

/// The schema of a field of an object, or of the entries of a list.
fn child<'a>(schema: &'a Schema, name: &str) -> Option<&'a RefOr<Schema>> {
    match schema {
        Schema::Object(object) => object.properties.get(name),
        Schema::Array(list) => match &list.items {
            ArrayItems::RefOrSchema(entry) => Some(entry),
            ArrayItems::False => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::parse;
    use super::*;

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "read to be checked")]
    struct Lot {
        lot_number: String,
        title: String,
        subtitle: Option<String>,
        #[serde(default)]
        featured: bool,
        seller: Option<Seller>,
        #[serde(default)]
        images: Vec<Image>,
        #[serde(flatten)]
        price: Price,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[expect(dead_code, reason = "read to be checked")]
    struct Seller {
        name: String,
        email: String,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[expect(dead_code, reason = "read to be checked")]
    struct Image {
        url: String,
        #[serde(rename = "a/b")]
        slash: String,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[expect(dead_code, reason = "read to be checked")]
    struct Price {
        reserve: i64,
        opening: i64,
    }

    #[test]
    fn all_missing_fields_of_an_object_are_reported_and_optional_ones_are_not() {
        let check = |text: &str, expected: &[&str], message: &str| {
            let error = parse::<Lot>(text.as_bytes()).unwrap_err();
            let positions = error.positions();
            assert_eq!(positions.iter().map(|(pointer, _)| *pointer).collect::<Vec<_>>(), expected, "{text}");
            assert_eq!((error.code(), error.to_string().as_str()), ("invalid", message), "{text}");
        };
        let rest = r#""lotNumber":"1","title":"t","reserve":1,"opening":1"#;
        check("", &["/lotNumber", "/reserve", "/opening", "/title"], "lotNumber, reserve, opening, title are missing");
        check(r#"{"title":"t","reserve":1,"opening":1}"#, &["/lotNumber"], "lotNumber is missing");
        check(&format!(r#"{{{rest},"seller":{{}}}}"#), &["/seller/name", "/seller/email"], "name, email are missing");
        check(
            &format!(r#"{{{rest},"images":[{{"url":"u","a/b":"s"}},{{}}]}}"#),
            &["/images/1/url", "/images/1/a~1b"],
            "url, a/b are missing",
        );
        assert!(parse::<Lot>(format!("{{{rest}}}").as_bytes()).is_ok());
    }

    #[test]
    fn each_missing_field_has_a_message_of_its_own() {
        let error = parse::<Seller>(b"{}").unwrap_err();
        let expected = [("/name", "name is missing".to_owned()), ("/email", "email is missing".to_owned())];
        assert_eq!(error.positions(), expected);
    }
}
