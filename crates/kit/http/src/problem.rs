//! Problem details (RFC 9457), with a stable `code` for programs.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use serde::Serialize;
use utoipa::ToSchema;

use crate::request_id;

/// An error answer. `type` is `about:blank`: the `code` says what it is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Always `about:blank`.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    pub kind: &'static str,
    /// The status code's own words.
    #[schema(example = "Conflict")]
    pub title: &'static str,
    /// HTTP status code.
    #[schema(example = 409)]
    pub status: u16,
    /// Stable word for programs, such as `bid_too_low`.
    pub code: &'static str,
    /// What is wrong and what to do, for people.
    #[schema(example = "bid 12000 at least")]
    pub detail: String,
    /// Where in the input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ProblemError>,
    /// How many errors there are, when not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_count: Option<u64>,
    /// Statuses that it could change to instead, when the code is `illegal_transition`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_next_statuses: Option<Vec<&'static str>>,
    /// Id of the request, also in the header `X-Request-Id` and in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "req-1f4c-2a")]
    pub request_id: Option<String>,
}

/// One thing that is wrong with the input.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProblemError {
    /// JSON pointer (RFC 6901) into the body, such as `/amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Physical line of a file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Column of a file by name, such as `lot_number`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What is wrong there and what to do.
    #[schema(example = "is 11000")]
    pub detail: String,
}

impl ProblemError {
    /// At a place of the body; an empty pointer is the whole of it.
    pub fn at(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        ProblemError { pointer: Some(pointer.into()), detail: detail.into(), ..ProblemError::default() }
    }

    /// At a line of a file.
    pub fn on_line(line: u64, column: Option<String>, detail: impl Into<String>) -> Self {
        ProblemError { line: Some(line), column, detail: detail.into(), ..ProblemError::default() }
    }
}

impl Problem {
    /// A problem without places.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            errors: Vec::new(),
            error_count: None,
            legal_next_statuses: None,
            request_id: request_id::current(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self).unwrap_or_default();
        let content_type = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(CONTENT_TYPE, content_type)], body).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_what_rfc_9457_says_with_our_code() {
        let mut problem = Problem::new(StatusCode::CONFLICT, "bid_too_low", "bid 100 at least");
        problem.errors.push(ProblemError::at("/amount", "is 50"));
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"type":"about:blank","title":"Conflict","status":409,"code":"bid_too_low","detail":"bid 100 at least","errors":[{"pointer":"/amount","detail":"is 50"}]}"#
        );
    }
}
