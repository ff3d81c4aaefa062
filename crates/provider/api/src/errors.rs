//! What can go wrong, in the API's two shapes: `{code, detail}`, and for 422 `{detail: [{loc, msg, type}]}`
//! (provider.md, "Shapes").

use axum::response::{IntoResponse, Response};
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, StatusCode};
use kit_http::json::JsonError;
use kit_http::rate_limit::{RATE_LIMIT, RATE_LIMIT_POLICY};
use kit_runtime::log_throttle::LogThrottle;
use provider_core::{FieldError, ProviderError, Quota};
use serde::Serialize;
use utoipa::ToSchema;

use crate::response;

/// While the database is away, each request would say it.
static UNAVAILABLE: LogThrottle = LogThrottle::new();

/// `type` of a value that is not allowed.
const VALUE_ERROR: &str = "value_error";
/// `type` of a body that is no JSON.
const JSON_ERROR: &str = "value_error.jsondecode";
/// Seconds after which a caller may try again what was not possible.
const RETRY_AFTER_S: &str = "1";

/// An error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HttpErrorOut<'a> {
    /// Stable word for programs.
    code: &'a str,
    /// What is wrong, for people.
    detail: &'a str,
}

/// Values that are not allowed (422).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HTTPValidationError)]
pub(crate) struct ValidationErrorOut {
    /// All of them.
    detail: Vec<ValidationErrorItem>,
}

/// A value that is not allowed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ValidationErrorItem {
    /// Where: `body`, `query`, `path` or `header`, then names and indexes.
    loc: Vec<String>,
    /// What is wrong, for people.
    msg: String,
    /// `value_error`, or `value_error.jsondecode` for what is no JSON.
    #[serde(rename = "type")]
    kind: &'static str,
}

/// An answer that is an error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// The provider refused.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The body can't be used.
    #[error(transparent)]
    Body(#[from] JsonError),
    /// Something outside the body can't be used: 422.
    #[error("{} is not valid: {msg}", loc.join("."))]
    InvalidValue {
        /// Where.
        loc: Vec<String>,
        /// What is wrong there.
        msg: String,
    },
}

impl ApiError {
    /// 422 for something outside the body.
    pub(crate) fn at<'a>(loc: impl IntoIterator<Item = &'a str>, msg: impl Into<String>) -> Self {
        ApiError::InvalidValue { loc: loc.into_iter().map(str::to_owned).collect(), msg: msg.into() }
    }

    /// The same of a value within this field of the body.
    pub(crate) fn within(mut self, field: &str) -> Self {
        if let ApiError::InvalidValue { loc, .. } = &mut self {
            loc.insert(1, field.to_owned());
        }
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let text = self.to_string();
        match self {
            ApiError::Provider(error) => of_provider(error, &text),
            ApiError::Body(JsonError::Syntax(_)) => invalid([item(["body".to_owned()], text, JSON_ERROR)]),
            ApiError::Body(JsonError::Shape { pointer, message }) => {
                invalid([item(loc_of(&pointer), message, VALUE_ERROR)])
            }
            ApiError::Body(error @ JsonError::BodyMemoryFull) => {
                with(plain(error.status(), error.code(), &text), RETRY_AFTER, RETRY_AFTER_S)
            }
            ApiError::Body(error) => plain(error.status(), error.code(), &text),
            ApiError::InvalidValue { loc, msg } => invalid([item(loc, msg, VALUE_ERROR)]),
        }
    }
}

fn of_provider(error: ProviderError, text: &str) -> Response {
    let code = error.code();
    match error {
        ProviderError::Unauthenticated => with(plain(StatusCode::UNAUTHORIZED, code, text), WWW_AUTHENTICATE, "Bearer"),
        ProviderError::Forbidden(_) => plain(StatusCode::FORBIDDEN, code, text),
        ProviderError::TooManyRequests { retry_after, quota, .. } => {
            let mut response = plain(StatusCode::TOO_MANY_REQUESTS, code, text);
            write_rate_limit_headers(response.headers_mut(), retry_after.as_secs(), quota);
            response
        }
        ProviderError::NotFound => plain(StatusCode::NOT_FOUND, code, text),
        ProviderError::Conflict { .. } => plain(StatusCode::CONFLICT, code, text),
        ProviderError::BadRequest { .. } => plain(StatusCode::BAD_REQUEST, code, text),
        ProviderError::TooLarge => plain(StatusCode::PAYLOAD_TOO_LARGE, code, text),
        ProviderError::Validation(faults) => invalid(faults.into_iter().map(of_fault)),
        ProviderError::IdempotencyMismatch => {
            let loc = ["header", "idempotency-key"].map(str::to_owned);
            invalid([item(loc, text.to_owned(), VALUE_ERROR)])
        }
        // What is wrong inside is for the log, not for the caller.
        ProviderError::Unavailable(_) => {
            if let Some(suppressed) = UNAVAILABLE.allow() {
                tracing::error!(error = text, suppressed, "a request failed");
            }
            let detail = "not available at the moment; try again";
            with(plain(StatusCode::SERVICE_UNAVAILABLE, code, detail), RETRY_AFTER, RETRY_AFTER_S)
        }
        ProviderError::Internal(_) => {
            tracing::error!(error = text, "a request failed");
            internal()
        }
    }
}

/// `Retry-After`, and the limit as the platform's API tells its own.
fn write_rate_limit_headers(headers: &mut HeaderMap, retry_after_s: u64, quota: Quota) {
    let Quota { name, requests, window_s } = quota;
    headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_s));
    for (header, value) in [
        (RATE_LIMIT_POLICY, format!("\"{name}\";q={requests};w={window_s}")),
        (RATE_LIMIT, format!("\"{name}\";r=0;t={retry_after_s}")),
    ] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(header, value);
        }
    }
}

/// 500.
pub(crate) fn internal() -> Response {
    let detail = "something went wrong here; it has been logged with the request id";
    plain(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
}

/// 404 for an address that leads nowhere.
pub(crate) fn route_not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "not_found", "there is nothing at this address")
}

/// 405.
pub(crate) fn method_not_allowed() -> Response {
    let detail = "this address does not take this method; the Allow header names those that it takes";
    plain(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}

fn plain(status: StatusCode, code: &str, detail: &str) -> Response {
    response::json(status, &HttpErrorOut { code, detail })
}

fn invalid(items: impl IntoIterator<Item = ValidationErrorItem>) -> Response {
    let detail = items.into_iter().collect();
    response::json(StatusCode::UNPROCESSABLE_ENTITY, &ValidationErrorOut { detail })
}

fn of_fault(fault: FieldError) -> ValidationErrorItem {
    item(fault.loc.into_iter().map(String::from), fault.msg, fault.kind)
}

fn item(loc: impl IntoIterator<Item = String>, msg: String, kind: &'static str) -> ValidationErrorItem {
    ValidationErrorItem { loc: loc.into_iter().collect(), msg, kind }
}

/// `/channels/0` is `body`, `channels`, `0`.
fn loc_of(pointer: &str) -> impl Iterator<Item = String> {
    let words = pointer.split('/').skip(1).map(|word| word.replace("~1", "/").replace("~0", "~"));
    std::iter::once("body".to_owned()).chain(words)
}

fn with(mut response: Response, name: HeaderName, value: &'static str) -> Response {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::{Value, json};

    use super::*;

    async fn answer(error: ApiError) -> (http::Response<()>, Value) {
        let (parts, body) = error.into_response().into_parts();
        let body = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
        (http::Response::from_parts(parts, ()), body)
    }

    #[tokio::test]
    async fn each_error_has_its_status_and_code() {
        let refused = |code| ProviderError::BadRequest { code, detail: "d".into() };
        for (error, status, code) in [
            (ProviderError::Unauthenticated.into(), 401, "authentication_failed"),
            (ProviderError::NotFound.into(), 404, "not_found"),
            (ProviderError::Conflict { code: "conflict", detail: "d".into() }.into(), 409, "conflict"),
            (refused("limit_reached").into(), 400, "limit_reached"),
            (ProviderError::TooLarge.into(), 413, "payload_too_large"),
            (ApiError::Body(JsonError::TooLarge { bytes_max: 1 }), 413, "payload_too_large"),
            (ApiError::Body(JsonError::TimedOut), 408, "request_timeout"),
            (ApiError::Body(JsonError::BodyMemoryFull), 503, "too_many_bodies"),
            (ApiError::Body(JsonError::ContentType), 415, "unsupported_media_type"),
            (ApiError::Body(JsonError::Incomplete), 400, "body_broken"),
        ] {
            let (response, body): (_, Value) = answer(error).await;
            assert_eq!((response.status().as_u16(), &body["code"]), (status, &json!(code)));
            assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
            assert_eq!(body.as_object().map(|body| body.len()), Some(2), "{body}");
        }
    }

    #[tokio::test]
    async fn what_is_wrong_inside_is_not_told() {
        for (error, status, code) in [
            (ProviderError::Unavailable("hidden".into()), 503, "unavailable"),
            (ProviderError::Internal("hidden".into()), 500, "internal"),
        ] {
            let (response, body) = answer(error.into()).await;
            assert_eq!((response.status().as_u16(), &body["code"]), (status, &json!(code)));
            assert!(!body.to_string().contains("hidden"), "{body}");
            assert_eq!(response.headers().contains_key(RETRY_AFTER), status == 503);
        }
    }

    #[tokio::test]
    async fn a_place_in_the_body_is_told_as_a_list_of_names() {
        let error = JsonError::Shape { pointer: "/metadata/a~1b~0c/0".into(), message: "m".into() };
        let (response, body) = answer(error.into()).await;
        let item = json!({"loc": ["body", "metadata", "a/b~c", "0"], "msg": "m", "type": "value_error"});
        assert_eq!((response.status().as_u16(), body), (422, json!({"detail": [item]})));
    }
}
