//! A client of the JSON APIs of the platform and the provider, with an API key, over HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MATCH};
use http::{Method, StatusCode};
use kit_outbound::{Client, Request};
use serde_json::Value;
use uuid::Uuid;

const DEADLINE: Duration = Duration::from_secs(30);
const RESPONSE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The response has an error status.
    #[error("{call}: {text}")]
    Refused {
        /// Method and URL.
        call: String,
        /// Status code.
        status: StatusCode,
        /// Status and details of the error response.
        text: String,
    },
    /// There was no response, or it could not be parsed.
    #[error("{call}: {text}")]
    Failed {
        /// Method and URL.
        call: String,
        /// The cause.
        text: String,
    },
}

impl ApiError {
    fn failed(call: &str, error: impl std::fmt::Display) -> Self {
        ApiError::Failed { call: call.to_owned(), text: error.to_string() }
    }

    /// Status code of an error response, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            ApiError::Refused { status, .. } => Some(*status),
            ApiError::Failed { .. } => None,
        }
    }
}

/// One API with one key.
#[derive(Clone)]
pub struct ApiClient {
    client: Client,
    base: String,
    bearer: HeaderValue,
}

/// A response with a 2xx status.
#[derive(Debug)]
pub struct ApiResponse {
    /// Status code.
    pub status: StatusCode,
    /// The `ETag` header.
    pub etag: Option<HeaderValue>,
    /// The body; null when it is empty.
    pub body: Value,
}

impl ApiResponse {
    /// The string at a JSON pointer of the body.
    pub fn text(&self, pointer: &str) -> Result<&str, ApiError> {
        let field = self.body.pointer(pointer).and_then(Value::as_str);
        field.ok_or_else(|| ApiError::failed("reading a response", format!("no string at {pointer} of {}", self.body)))
    }
}

impl ApiClient {
    /// `base` is a URL such as `http://127.0.0.1:8080`.
    pub fn new(client: Client, base: String, key: &str) -> Result<Self, ApiError> {
        let mut bearer =
            HeaderValue::try_from(format!("Bearer {key}")).map_err(|error| ApiError::failed("the API key", error))?;
        bearer.set_sensitive(true);
        Ok(ApiClient { client, base, bearer })
    }

    /// A client with the same key of another node, at `base`.
    #[must_use]
    pub fn at(&self, base: String) -> Self {
        ApiClient { client: self.client.clone(), base, bearer: self.bearer.clone() }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Result<ApiResponse, ApiError> {
        self.send(Method::GET, path, HeaderMap::new(), Bytes::new()).await
    }

    /// POST with JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Result<ApiResponse, ApiError> {
        self.send(Method::POST, path, json(), body.to_string().into()).await
    }

    /// PUT with JSON.
    pub async fn put(&self, path: &str, body: &Value) -> Result<ApiResponse, ApiError> {
        self.send(Method::PUT, path, json(), body.to_string().into()).await
    }

    /// Reads a record, and changes fields of the version that was read: PATCH with JSON and `If-Match`.
    pub async fn change(&self, path: &str, fields: &Value) -> Result<ApiResponse, ApiError> {
        let mut headers = json();
        if let Some(version) = self.get(path).await?.etag {
            headers.insert(IF_MATCH, version);
        }
        self.send(Method::PATCH, path, headers, fields.to_string().into()).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Result<ApiResponse, ApiError> {
        self.send(Method::DELETE, path, HeaderMap::new(), Bytes::new()).await
    }

    /// POST with JSON and `If-Match`, as status changes and commands of the clerk need it.
    pub async fn post_if_match(
        &self,
        path: &str,
        version: Option<&HeaderValue>,
        body: &Value,
    ) -> Result<ApiResponse, ApiError> {
        let mut headers = json();
        if let Some(version) = version {
            headers.insert(IF_MATCH, version.clone());
        }
        self.send(Method::POST, path, headers, body.to_string().into()).await
    }

    /// POST with JSON and additional headers.
    pub async fn post_with_headers(
        &self,
        path: &str,
        additional: HeaderMap,
        body: &Value,
    ) -> Result<ApiResponse, ApiError> {
        let mut headers = json();
        headers.extend(additional);
        self.send(Method::POST, path, headers, body.to_string().into()).await
    }

    /// POST with a catalogue as CSV.
    pub async fn post_csv(&self, path: &str, csv: Bytes) -> Result<ApiResponse, ApiError> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/csv"))]);
        self.send(Method::POST, path, headers, csv).await
    }

    /// Adds a JPEG image to an item, under a UUID that the caller makes.
    pub async fn put_image(&self, item: &str, image: Uuid, name: &str, jpeg: Bytes) -> Result<ApiResponse, ApiError> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("image/jpeg"))]);
        self.send(Method::PUT, &format!("/api/v1/items/{item}/images/{image}?fileName={name}"), headers, jpeg).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<ApiResponse, ApiError> {
        headers.insert(AUTHORIZATION, self.bearer.clone());
        let call = format!("{method} {}{path}", self.base);
        let failed = |error: &dyn std::fmt::Display| ApiError::failed(&call, error);
        let to = format!("{}{path}", self.base).parse().map_err(|error: http::uri::InvalidUri| failed(&error))?;
        let headers = headers.into();
        let request = Request { method, to, headers, body, deadline: DEADLINE, response_bytes_max: RESPONSE_BYTES_MAX };
        let response = self.client.send(request).await.map_err(|error| failed(&error))?;
        let status = response.status;
        let body: Value = if response.body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&response.body).map_err(|_| failed(&not_json(status, &response.headers)))?
        };
        if status.is_success() {
            return Ok(ApiResponse { status, etag: response.headers.get(ETAG).cloned(), body });
        }
        Err(ApiError::Refused { call, status, text: error_text(status, &body) })
    }
}

/// The error for a response that no JSON API sends.
fn not_json(status: StatusCode, headers: &HeaderMap) -> String {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content = if content_type.starts_with("text/html") { "HTML" } else { "a body that is not JSON" };
    format!("answered {status} with {content}: is this the address of the API?")
}

fn json() -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))])
}

/// An error response as text: the status, the detail, and at most 20 field errors with their places.
fn error_text(status: StatusCode, body: &Value) -> String {
    let detail = match body.get("detail") {
        Some(Value::String(detail)) => detail.clone(),
        Some(other) => other.to_string(),
        None => body.to_string(),
    };
    let mut text = format!("{status}: {detail}");
    for error in body.get("errors").and_then(Value::as_array).into_iter().flatten().take(20) {
        let field = |name: &str| error.get(name).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        let place = match (field("line"), field("column"), field("pointer")) {
            (Some(line), column, _) => {
                format!("line {line}{}", column.map_or(String::new(), |name| format!(", {name}")))
            }
            (None, _, pointer) => pointer.unwrap_or_default(),
        };
        text.push_str(&format!("\n  {place}: {}", field("detail").unwrap_or_default()));
    }
    text
}
