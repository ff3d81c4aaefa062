//! Checks every response of these tests against the API's own OpenAPI document. A test fails on a status that the
//! document does not declare, a body of another schema, or an undeclared body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use http::Method;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::document;
use crate::fixture::Answer;

pub(crate) static OURS: LazyLock<Value> = LazyLock::new(|| serde_json::to_value(provider_api::openapi()).unwrap());

/// Validators by operation and status; none for a response without a body.
type Schemas = HashMap<(String, u16), Option<Arc<Validator>>>;

static SCHEMAS: LazyLock<Mutex<Schemas>> = LazyLock::new(Mutex::default);

/// The operation's id in the document.
pub(crate) fn name(method: &Method, path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let operation = document::operation(&OURS, if method == Method::HEAD { &Method::GET } else { method }, path)?;
    operation["operationId"].as_str().map(str::to_owned)
}

/// Panics if the document does not declare this response. A request that matches no operation is skipped.
pub(crate) fn check(method: &Method, path: &str, answer: &Answer) {
    let Some(name) = name(method, path) else { return };
    if method == Method::HEAD {
        return;
    }
    let said = format!("{method} {path}: {} {}", answer.status, answer.text);
    let operation = document::operation(&OURS, method, path.trim_end_matches('/')).unwrap();
    let described = operation["responses"].get(answer.status.to_string());
    let described = described.unwrap_or_else(|| panic!("{said}: the document does not declare it"));
    let mut schemas = SCHEMAS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let schema = schemas.entry((name, answer.status)).or_insert_with(|| {
        let schema = described.pointer("/content/application~1json/schema")?;
        let whole = json!({"allOf": [schema], "components": OURS["components"]});
        Some(Arc::new(jsonschema::options().should_validate_formats(true).build(&whole).unwrap()))
    });
    let schema = schema.clone();
    drop(schemas);
    let Some(schema) = schema else {
        assert_eq!(answer.text, "", "{said}: the document declares no body");
        return;
    };
    let faults: Vec<String> =
        schema.iter_errors(&answer.json()).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{said}\n{faults:#?}");
}

#[test]
fn a_response_that_the_document_does_not_declare_fails() {
    let answer = |status, text: &str| Answer::new(status, http::HeaderMap::new(), text.as_bytes());
    let caught = |answer: Answer| std::panic::catch_unwind(|| check(&Method::GET, "/api/v1/app/x/", &answer)).is_err();
    let whole = json!({"id": "app_1", "name": "n", "metadata": {}, "createdAt": "2026-11-21T06:28:03.123Z",
        "updatedAt": "2026-11-21T06:28:03.123Z"});
    assert!(!caught(answer(200, &whole.to_string())));
    assert!(caught(answer(200, "{}")));
    assert!(caught(answer(409, r#"{"code":"conflict","detail":"d"}"#)), "reading an application can't conflict");
    assert!(caught(answer(404, "{}")));
}

#[test]
fn every_response_has_a_description_of_its_content() {
    for (path, operations) in OURS["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().into_iter().flatten() {
                let text = response.get("description").and_then(Value::as_str).unwrap_or_default();
                let status_name = http::StatusCode::try_from(status.as_str()).unwrap().canonical_reason();
                let says_nothing = ["", "Done"].contains(&text.trim_end_matches('.'))
                    || status_name.is_some_and(|name| name != "No Content" && text.trim_end_matches('.') == name);
                assert!(!says_nothing, "{method} {path} {status}: {text:?}");
            }
        }
    }
}
