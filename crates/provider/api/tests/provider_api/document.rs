//! Checks the API against the public OpenAPI document of the open-source server: paths, statuses, and the fields of requests
//! and responses with their types. `public_document.json` has these facts; `cargo xtask provider-facts` extracts them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use http::Method;
use serde_json::{Map, Value, json};

use crate::fixture::{Answer, Fixture};
use crate::our_document::OURS;

/// The facts as an OpenAPI document with JSON Schema.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let facts: Value = serde_json::from_str(include_str!("public_document.json")).unwrap();
    let mut paths = Map::new();
    for (operation, facts) in facts["operations"].as_object().unwrap() {
        let (method, path) = operation.split_once(' ').unwrap();
        let responses = facts["responses"].as_object().unwrap().iter();
        let responses: Map<String, Value> = responses.map(|(status, name)| (status.clone(), body(name))).collect();
        let operation =
            json!({ "operationId": facts["id"], "requestBody": body(&facts["request"]), "responses": responses });
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[method.to_lowercase()] = operation;
    }
    let schemas = facts["schemas"].as_object().unwrap().iter();
    let schemas: Map<String, Value> = schemas.map(|(name, facts)| (name.clone(), schema_of(name, facts))).collect();
    json!({ "paths": paths, "components": { "schemas": schemas } })
});

/// A request or a response with a schema, or without a body.
fn body(schema: &Value) -> Value {
    match schema.as_str() {
        Some(name) => json!({ "content": { "application/json": { "schema": reference(name) } } }),
        None => json!({}),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn schema_of(name: &str, facts: &Value) -> Value {
    let Some(fields) = facts["fields"].as_object() else { return type_of(facts) };
    // The open-source server sends `null` where there is no value.
    let is_response = name.ends_with("Out") || name.starts_with("ListResponse_");
    let is_required = |facts: &Value| facts["required"] == true || (is_response && facts["nullable"] == true);
    let required: Vec<&String> = fields.iter().filter(|(_, facts)| is_required(facts)).map(|(name, _)| name).collect();
    let properties: Map<String, Value> = fields.iter().map(|(name, facts)| (name.clone(), type_of(facts))).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn type_of(facts: &Value) -> Value {
    let mut schema = match facts["schema"].as_str() {
        Some(name) => reference(name),
        None => json!({}),
    };
    for (fact, keyword) in [("type", "type"), ("format", "format"), ("enum", "enum")] {
        if let Some(value) = facts.get(fact) {
            schema[keyword] = value.clone();
        }
    }
    for (fact, keyword) in [("items", "items"), ("values", "additionalProperties")] {
        if let Some(inner) = facts.get(fact) {
            schema[keyword] = type_of(inner);
        }
    }
    if facts["nullable"] == true { json!({ "anyOf": [schema, { "type": "null" }] }) } else { schema }
}

/// Prefixes of operations that the document does not have.
const BEYOND: [&str; 6] = [
    "lotwire.",
    "v1.health.ping",
    "v1.background-task.",
    "v1.endpoint.bulk-replay",
    "v1.endpoint.replay-missing",
    "v1.operational-webhook.",
];

/// Statuses that any operation may return in addition to those that the document declares.
const EVERYWHERE: [u16; 8] = [400, 401, 403, 408, 413, 415, 429, 503];

/// Panics if the document has the operation and does not declare this response.
pub(crate) fn check(method: &Method, path: &str, answer: &Answer) {
    let document = &*DOCUMENT;
    // The response to HEAD is that to GET without the body.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let Some(operation) = operation(document, method, path.trim_end_matches('/')) else { return };
    let said = format!("{method} {path}: {} {}", answer.status, answer.text);
    let Some(described) = operation["responses"].get(answer.status.to_string()) else {
        // Current clients read the new secret from the response, which the document declares as empty.
        let rotated = path.trim_end_matches('/').ends_with("/secret/rotate") && answer.status == 200;
        // The document declares no response to the deletion of content; the open-source server returns 204.
        let expunged = path.trim_end_matches('/').ends_with("/content") && answer.status == 204;
        assert!(
            rotated || expunged || answer.status == 405 || EVERYWHERE.contains(&answer.status),
            "{said}: not described"
        );
        return;
    };
    let Some(schema) = described.pointer("/content/application~1json/schema") else {
        assert_eq!(answer.text, "", "{said}: the document declares no body");
        return;
    };
    let whole = json!({"allOf": [schema], "components": document["components"]});
    let validator = jsonschema::options().should_validate_formats(true).build(&whole).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(&answer.json()).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{said}\n{faults:#?}");
}

pub(crate) fn operation<'a>(document: &'a Value, method: &Method, path: &str) -> Option<&'a Value> {
    let paths = document["paths"].as_object().unwrap();
    let item = paths
        .iter()
        .filter(|(template, _)| fits(template, path))
        .min_by_key(|(template, _)| template.matches('{').count());
    item?.1.get(method.as_str().to_lowercase())
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len() && template.iter().zip(path).all(|(word, is)| word.starts_with('{') || *word == is)
}

#[test]
fn a_response_that_the_servers_document_does_not_declare_fails() {
    let answer = |status, text: &str| Answer::new(status, http::HeaderMap::new(), text.as_bytes());
    let caught = |answer: Answer| std::panic::catch_unwind(|| check(&Method::GET, "/api/v1/app/x/", &answer)).is_err();
    let whole = json!({"id": "app_1", "name": "n", "metadata": {}, "createdAt": "2026-11-21T06:28:03.123Z", "updatedAt": "2026-11-21T06:28:03.123Z", "uid": null, "throttleRate": null});
    assert!(!caught(answer(200, &whole.to_string())));
    let mut part = whole.clone();
    part.as_object_mut().unwrap().remove("metadata");
    assert!(caught(answer(200, &part.to_string())));
    let mut without_null = whole.clone();
    without_null.as_object_mut().unwrap().remove("uid");
    assert!(caught(answer(200, &without_null.to_string())));
    let mut wrong = whole;
    wrong["createdAt"] = json!("yesterday");
    assert!(caught(answer(200, &wrong.to_string())));
    assert!(caught(answer(418, "{}")));
}

/// Operations that the open-source server's document lacks, or has under another id.
const NOT_IN_THEIRS: [&str; 11] = [
    "v1.endpoint.get-attempt-stats",
    "v1.message.bulk-expunge-content",
    "v1.message.expunge-all-contents",
    "v1.health.ping",
    "v1.message.precheck",
    "v1.event-type.import-openapi",
    "v1.account.get",
    "v1.account.patch",
    "v1.authentication.expire-all",
    "v1.authentication.whoami",
    "v1.authentication.logout",
];

#[test]
fn no_two_schemas_share_a_name() {
    assert_eq!(provider_api::ambiguous_schemas(), [""; 0]);
}

/// The document has every operation, with the id and path of the open-source server's document.
#[test]
fn the_document_has_every_operation_under_the_id_of_the_open_source_server() {
    let ours = serde_json::to_value(provider_api::openapi()).unwrap();
    let operations: Vec<(String, String, String)> = operations(&ours)
        .into_iter()
        .map(|(method, path, operation)| (operation["operationId"].as_str().unwrap().to_owned(), method, path))
        .collect();
    let names: BTreeSet<&str> = operations.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names.len(), operations.len(), "two operations share an id");
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        [
            "lotwire.endpoint.blocked-keys",
            "lotwire.endpoint.retry-blocked-key",
            "lotwire.endpoint.skip-blocked-key",
            "patch_application",
            "patch_endpoint",
            "patch_event_type",
            "v1.account.get",
            "v1.account.patch",
            "v1.application.create",
            "v1.application.delete",
            "v1.application.get",
            "v1.application.list",
            "v1.application.update",
            "v1.authentication.app-portal-access",
            "v1.authentication.expire-all",
            "v1.authentication.logout",
            "v1.authentication.whoami",
            "v1.background-task.get",
            "v1.background-task.list",
            "v1.endpoint.bulk-replay",
            "v1.endpoint.create",
            "v1.endpoint.delete",
            "v1.endpoint.get",
            "v1.endpoint.get-attempt-stats",
            "v1.endpoint.get-headers",
            "v1.endpoint.get-secret",
            "v1.endpoint.get-stats",
            "v1.endpoint.list",
            "v1.endpoint.patch-headers",
            "v1.endpoint.recover",
            "v1.endpoint.replay-missing",
            "v1.endpoint.rotate-secret",
            "v1.endpoint.send-example",
            "v1.endpoint.update",
            "v1.endpoint.update-headers",
            "v1.event-type.create",
            "v1.event-type.delete",
            "v1.event-type.get",
            "v1.event-type.import-openapi",
            "v1.event-type.list",
            "v1.event-type.update",
            "v1.health.get",
            "v1.health.ping",
            "v1.message-attempt.expunge-content",
            "v1.message-attempt.get",
            "v1.message-attempt.list-attempted-destinations",
            "v1.message-attempt.list-attempted-messages",
            "v1.message-attempt.list-by-endpoint",
            "v1.message-attempt.list-by-msg",
            "v1.message-attempt.resend",
            "v1.message.bulk-expunge-content",
            "v1.message.create",
            "v1.message.expunge-all-contents",
            "v1.message.expunge-content",
            "v1.message.get",
            "v1.message.list",
            "v1.message.precheck",
            "v1.operational-webhook.endpoint.create",
            "v1.operational-webhook.endpoint.delete",
            "v1.operational-webhook.endpoint.get",
            "v1.operational-webhook.endpoint.get-headers",
            "v1.operational-webhook.endpoint.get-secret",
            "v1.operational-webhook.endpoint.list",
            "v1.operational-webhook.endpoint.rotate-secret",
            "v1.operational-webhook.endpoint.set-headers",
            "v1.operational-webhook.endpoint.upsert",
        ]
    );
    let document = &*DOCUMENT;
    let beyond = |name: &str| NOT_IN_THEIRS.contains(&name) || BEYOND.iter().any(|begin| name.starts_with(begin));
    for (name, method, path) in operations.iter().filter(|(name, ..)| !beyond(name)) {
        let theirs = document["paths"][path][method.to_lowercase()]["operationId"].as_str();
        assert_eq!(theirs, Some(name.as_str()), "{method} {path}");
    }
}

/// Clients may send every field of the public document, and may leave out what it does not require.
#[test]
fn requests_of_the_open_source_servers_clients_are_understood() {
    let schema = |document: &Value, operation: &Value| {
        let name = operation.pointer("/requestBody/content/application~1json/schema/$ref")?.as_str()?;
        document.pointer(name.strip_prefix('#')?).cloned()
    };
    let names = |schema: &Value, list: &str| -> BTreeSet<String> {
        match &schema[list] {
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            properties => properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect(),
        }
    };
    let mut compared = 0;
    let mut faults = Vec::new();
    for (method, path, theirs) in operations(&DOCUMENT) {
        let Some(their_schema) = schema(&DOCUMENT, &theirs) else { continue };
        let ours = &OURS["paths"][&path][method.to_lowercase()];
        let our_schema = schema(&OURS, ours).unwrap_or_else(|| panic!("{method} {path}: no schema"));
        let unknown: Vec<_> =
            names(&their_schema, "properties").difference(&names(&our_schema, "properties")).cloned().collect();
        let required: Vec<_> =
            names(&our_schema, "required").difference(&names(&their_schema, "required")).cloned().collect();
        if !unknown.is_empty() || !required.is_empty() {
            faults.push(format!("{method} {path}: unknown {unknown:?}, required by us alone {required:?}"));
        }
        compared += 1;
    }
    assert!(compared >= 15, "{compared}");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test]
async fn the_document_is_served_unchanged() {
    let fixture = Fixture::new().await;
    let served = fixture.call_as(None, "GET", "/openapi.json", &[], "").await;
    served.expect(200, &serde_json::to_value(provider_api::openapi()).unwrap());
    for name in
        ["ApplicationOut", "EventTypeOut", "EndpointOut", "MessageOut", "MessageAttemptOut", "HTTPValidationError"]
    {
        assert!(served.json()["components"]["schemas"][name].is_object(), "{name}");
    }
}

/// Method, path and description of each operation of a document.
pub(crate) fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item
            .as_object()
            .unwrap()
            .iter()
            .filter(|(method, _)| Method::try_from(method.to_uppercase().as_str()).is_ok());
        let methods = methods.filter(|(_, operation)| operation["responses"].is_object());
        methods.map(|(method, operation)| (method.to_uppercase(), path.clone(), operation.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}
