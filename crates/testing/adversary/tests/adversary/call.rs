//! Calls of a JSON API, and the operations of its OpenAPI document.

use bytes::Bytes;
use http::{HeaderName, Method};
use kit_outbound::{Client, Headers, Request};
use serde_json::{Value, json};
use testkit::site::http_client;

use crate::support::WAIT_MAX;

/// Maximum number of bytes of a response that are read.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// An API.
#[derive(Clone)]
pub struct Api {
    http: Client,
    base: String,
}

/// An answer: its status and its JSON body, null when there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    /// The code of a problem; empty when there is none.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// A text field.
    pub fn text(&self, name: &str) -> String {
        self.body[name].as_str().unwrap_or_else(|| panic!("no {name} in {self:?}")).to_owned()
    }
}

impl Api {
    pub fn new(base: String) -> Self {
        Api { http: http_client(), base }
    }

    /// Sends a request with this key; without one if it is empty. A null body is sent as none, a text as CSV.
    pub async fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let mut headers = bearer(key);
        // No record has this version, so that an operation with a precondition reads the record before it refuses.
        if matches!(method, "post" | "patch") {
            headers.add(&HeaderName::from_static("if-match"), b"\"999999\"");
        }
        self.send(method, path, headers, body).await
    }

    /// Sends a request with this key, without a precondition.
    pub async fn plain(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.send(method, path, bearer(key), body).await
    }

    /// Sends a request with this key that succeeds, without a precondition.
    pub async fn make(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let answer = self.plain(method, path, key, body).await;
        assert!((200..300).contains(&answer.status), "{method} {path}: {answer:?}");
        answer
    }

    async fn send(&self, method: &str, path: &str, mut headers: Headers, body: &Value) -> Answer {
        let (content_type, body) = match body {
            Value::Null => (None, Bytes::new()),
            Value::String(csv) => (Some("text/csv"), Bytes::from(csv.clone())),
            _ => (Some("application/json"), Bytes::from(body.to_string())),
        };
        if let Some(content_type) = content_type {
            headers.add(&http::header::CONTENT_TYPE, content_type.as_bytes());
        }
        let request = || Request {
            method: Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(),
            to: format!("{}{path}", self.base).parse().unwrap(),
            headers: headers.clone(),
            body: body.clone(),
            deadline: WAIT_MAX,
            response_bytes_max: ANSWER_BYTES_MAX,
        };
        let response = self.http.send_idempotent(request).await.unwrap();
        let body = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
        Answer { status: response.status.as_u16(), body }
    }

    /// The operations of the API's own document.
    pub async fn operations(&self) -> Vec<Operation> {
        let document = self.call("get", "/api/v1/openapi.json", "none", &Value::Null).await.body;
        let paths = document["paths"].as_object().expect("the API has an OpenAPI document");
        let mut found = Vec::new();
        for (path, operations) in paths {
            for (method, operation) in operations.as_object().unwrap() {
                if method != "parameters" {
                    found.push(Operation::new(method, path, operation, &document));
                }
            }
        }
        found
    }
}

fn bearer(key: &str) -> Headers {
    let mut headers = Headers::default();
    if !key.is_empty() {
        headers.add(&http::header::AUTHORIZATION, format!("Bearer {key}").as_bytes());
    }
    headers
}

/// One operation of a document.
#[derive(Debug, Clone)]
pub struct Operation {
    pub method: String,
    pub path: String,
    /// Alternatives of the required credentials: the name of a security scheme and its scopes. Empty if the document names
    /// none.
    pub security: Vec<(String, Vec<String>)>,
    /// Whether the operation is public.
    pub is_public: bool,
    /// A body that matches the schema; null if the operation takes none.
    pub body: Value,
}

impl Operation {
    fn new(method: &str, path: &str, operation: &Value, document: &Value) -> Self {
        let alternatives = operation["security"].as_array().cloned().unwrap_or_default();
        let mut security = Vec::new();
        for (scheme, scopes) in alternatives.iter().filter_map(Value::as_object).flatten() {
            let scopes = scopes.as_array().unwrap().iter().map(|scope| scope.as_str().unwrap().to_owned());
            security.push((scheme.clone(), scopes.collect()));
        }
        let content = &operation["requestBody"]["content"];
        let schema = &content["application/json"]["schema"];
        let body = match (schema.is_null(), content["text/csv"].is_null()) {
            (false, _) => example(schema, document, 0),
            (true, false) => json!("lotNumber,title,openingBid\n9,A lot,100\n"),
            (true, true) => Value::Null,
        };
        Operation {
            method: method.to_owned(),
            path: path.to_owned(),
            security,
            is_public: alternatives.iter().any(|one| one.as_object().is_some_and(serde_json::Map::is_empty)),
            body,
        }
    }

    /// Whether an API key with this scope alone is enough.
    pub fn allows(&self, scope: &str) -> bool {
        let of_key = |scheme: &str| scheme == "key";
        self.security
            .iter()
            .any(|(scheme, scopes)| of_key(scheme) && (scopes.is_empty() || scopes.iter().any(|one| one == scope)))
    }

    /// The path with each parameter replaced.
    pub fn path_with(&self, value: impl Fn(&str) -> String) -> String {
        let mut path = String::new();
        for part in self.path.split_inclusive('}') {
            match part.split_once('{') {
                Some((before, name)) => path.push_str(&format!("{before}{}", value(name.trim_end_matches('}')))),
                None => path.push_str(part),
            }
        }
        path
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// The smallest value that a schema accepts, by its types and required properties.
fn example(schema: &Value, document: &Value, depth: usize) -> Value {
    if depth > 20 {
        return Value::Null;
    }
    let nested = |schema: &Value| example(schema, document, depth + 1);
    if let Some(target) = schema["$ref"].as_str() {
        return nested(document.pointer(target.trim_start_matches('#')).unwrap());
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(first) = schema[choice].as_array().and_then(|all| all.first()) {
            return nested(first);
        }
    }
    for given in [&schema["example"], &schema["examples"][0], &schema["default"], &schema["enum"][0], &schema["const"]]
    {
        if !given.is_null() {
            return given.clone();
        }
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("object");
    match kind {
        "string" => match schema["format"].as_str() {
            Some("uuid") => json!("019a0000-0000-7000-8000-000000000000"),
            Some("date-time") => json!("2031-01-01T00:00:00.000Z"),
            Some("uri" | "url") => json!("https://example.com/"),
            _ => json!("x".repeat(schema["minLength"].as_u64().unwrap_or(1).max(1) as usize)),
        },
        "integer" | "number" => json!(schema["minimum"].as_i64().unwrap_or(1).max(1)),
        "boolean" => json!(true),
        "array" => json!([nested(&schema["items"])]),
        _ => {
            let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(|name| (name.to_owned(), nested(&schema["properties"][name]))).collect()
        }
    }
}
