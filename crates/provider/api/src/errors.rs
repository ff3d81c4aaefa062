//! Errors of the API, in the two shapes that official clients expect: `{code, detail}`, and for 422
//! `{detail: [{loc, msg, type}]}`.

use axum::response::{IntoResponse, Response};
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, StatusCode};
use kit_http::bearer::BearerError;
use kit_http::json::JsonError;
use kit_http::rate_limit::{RATE_LIMIT, RATE_LIMIT_POLICY};
use kit_runtime::log_throttle::LogThrottle;
use provider_core::{FieldError, ProviderError, Quota};
use serde::Serialize;
use utoipa::ToSchema;

use crate::response;

/// While the database can't be reached, every request fails; the log reports it once in a while.
static UNAVAILABLE: LogThrottle = LogThrottle::new();

/// `type` of an invalid value.
const VALUE_ERROR: &str = "value_error";
/// `type` of a body that is not JSON.
const JSON_ERROR: &str = "value_error.jsondecode";
/// `detail` when a key or token is wrong, in the open-source server's words, which callers compare.
const INVALID_TOKEN: &str = "Invalid token";
/// Seconds after which a caller may retry when the server is unavailable.
const RETRY_AFTER_S: &str = "1";
/// Seconds after which a caller may retry when the disk is full: an operator has to act.
const DISK_RETRY_AFTER_S: &str = "10";

/// An error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HttpErrorOut<'a> {
    /// Stable code for programs.
    code: &'a str,
    /// What is wrong, in words.
    detail: &'a str,
}

/// The invalid values of a request (422).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HTTPValidationError)]
pub(crate) struct ValidationErrorOut {
    /// All invalid values.
    detail: Vec<ValidationErrorItem>,
}

/// An invalid value.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ValidationErrorItem {
    /// Place of the value: `body`, `query`, `path` or `header`, then names and indexes.
    loc: Vec<String>,
    /// What is wrong, in words.
    msg: String,
    /// `value_error`, or `value_error.jsondecode` if the body is not JSON.
    #[serde(rename = "type")]
    kind: &'static str,
}

/// An error response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// An error of a use case.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The request has no credential: 401.
    #[error(transparent)]
    Authorization(#[from] BearerError),
    /// The body can't be read.
    #[error(transparent)]
    Body(#[from] JsonError),
    /// An invalid value: 422.
    #[error("{} is not valid: {msg}", loc.join("."))]
    InvalidValue {
        /// Place of the value.
        loc: Vec<String>,
        /// What is wrong with it.
        msg: String,
    },
}

impl ApiError {
    /// 422 for the value at this place.
    pub(crate) fn at<'a>(loc: impl IntoIterator<Item = &'a str>, msg: impl Into<String>) -> Self {
        ApiError::InvalidValue { loc: loc.into_iter().map(str::to_owned).collect(), msg: msg.into() }
    }

    /// The same error for a value within this field of the body.
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
            ApiError::Authorization(_) => unauthenticated(ProviderError::Unauthenticated.code(), &text),
            ApiError::Body(JsonError::Syntax(_)) => invalid([item(["body".to_owned()], text, JSON_ERROR)]),
            ApiError::Body(error @ (JsonError::Shape { .. } | JsonError::MissingFields { .. })) => {
                let positions = error.positions().into_iter();
                invalid(positions.map(|(pointer, message)| item(loc_of(pointer), message, VALUE_ERROR)))
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
        ProviderError::Unauthenticated => unauthenticated(code, INVALID_TOKEN),
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
        ProviderError::Validation(errors) => invalid(errors.into_iter().map(of_field_error)),
        ProviderError::IdempotencyMismatch => {
            let loc = ["header", "idempotency-key"].map(str::to_owned);
            invalid([item(loc, text.to_owned(), VALUE_ERROR)])
        }
        ProviderError::DiskFull => {
            with(plain(StatusCode::SERVICE_UNAVAILABLE, code, text), RETRY_AFTER, DISK_RETRY_AFTER_S)
        }
        // The cause of an internal error goes to the log, not to the caller.
        ProviderError::Unavailable(_) => {
            if let Some(suppressed) = UNAVAILABLE.allow() {
                tracing::error!(error = text, suppressed, "an API request failed: the database can't be reached");
            }
            let detail = "the server can't reach its database at the moment; retry after a second";
            with(plain(StatusCode::SERVICE_UNAVAILABLE, code, detail), RETRY_AFTER, RETRY_AFTER_S)
        }
        ProviderError::Internal(_) => {
            tracing::error!(error = text, "an API request failed: internal error");
            internal()
        }
    }
}

/// `Retry-After`, and the headers of the IETF draft "RateLimit header fields for HTTP".
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

/// A 500 response.
pub(crate) fn internal() -> Response {
    let detail = "the server could not complete the request; it logged the error with the request id";
    plain(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
}

/// A 404 response for a path without a route.
pub(crate) fn route_not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "not_found", "no operation has this path")
}

/// A 405 response.
pub(crate) fn method_not_allowed() -> Response {
    let detail = "this path does not support this method; the Allow header lists the supported ones";
    plain(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}

fn unauthenticated(code: &str, text: &str) -> Response {
    with(plain(StatusCode::UNAUTHORIZED, code, text), WWW_AUTHENTICATE, "Bearer")
}

fn plain(status: StatusCode, code: &str, detail: &str) -> Response {
    response::json(status, &HttpErrorOut { code, detail })
}

fn invalid(items: impl IntoIterator<Item = ValidationErrorItem>) -> Response {
    let detail = items.into_iter().collect();
    response::json(StatusCode::UNPROCESSABLE_ENTITY, &ValidationErrorOut { detail })
}

fn of_field_error(error: FieldError) -> ValidationErrorItem {
    item(error.loc.into_iter().map(String::from), error.msg, error.kind)
}

fn item(loc: impl IntoIterator<Item = String>, msg: String, kind: &'static str) -> ValidationErrorItem {
    ValidationErrorItem { loc: loc.into_iter().collect(), msg, kind }
}

/// The place of a JSON pointer: `/channels/0` is `body`, `channels`, `0`.
fn loc_of(pointer: &str) -> impl Iterator<Item = String> {
    let names = pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"));
    std::iter::once("body".to_owned()).chain(names)
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
            (BearerError::Missing.into(), 401, "authentication_failed"),
            (ProviderError::NotFound.into(), 404, "not_found"),
            (ProviderError::Conflict { code: "conflict", detail: "d".into() }.into(), 409, "conflict"),
            (refused("limit_reached").into(), 400, "limit_reached"),
            (ProviderError::TooLarge.into(), 413, "payload_too_large"),
            (ApiError::Body(JsonError::TooLarge { bytes_max: 1 }), 413, "payload_too_large"),
            (ApiError::Body(JsonError::TimedOut), 408, "request_timeout"),
            (ApiError::Body(JsonError::BodyMemoryFull), 503, "too_many_bodies"),
            (ProviderError::DiskFull.into(), 503, "disk_full"),
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
    async fn a_response_hides_the_cause_of_an_internal_error() {
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
    async fn a_place_in_the_body_is_a_list_of_names() {
        let error = JsonError::Shape { pointer: "/metadata/a~1b~0c/0".into(), message: "m".into() };
        let (response, body) = answer(error.into()).await;
        let item = json!({"loc": ["body", "metadata", "a/b~c", "0"], "msg": "m", "type": "value_error"});
        assert_eq!((response.status().as_u16(), body), (422, json!({"detail": [item]})));
    }
}
