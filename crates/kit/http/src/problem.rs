//! Problem details (RFC 9457), with a stable `code` for programs.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use serde::Serialize;
use utoipa::ToSchema;

use crate::request_id;

/// A problem (RFC 9457). `type` is always `about:blank`; `code` identifies the error.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Always `about:blank`.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    pub kind: &'static str,
    /// The reason phrase of the status code.
    #[schema(example = "Conflict")]
    pub title: &'static str,
    /// HTTP status code.
    #[schema(example = 409)]
    pub status: u16,
    /// Stable error code for programs, such as `bid_too_low`.
    pub code: &'static str,
    /// What is wrong and what to do, for people.
    #[schema(example = "bid 12000 at least")]
    pub detail: String,
    /// The errors in the input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ProblemError>,
    /// The number of errors, when not all of them are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_count: Option<u64>,
    /// The statuses that the resource can change to, when the code is `illegal_transition`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_next_statuses: Option<Vec<&'static str>>,
    /// Id of the request, also in the header `X-Request-Id` and in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "req-1f4c-2a")]
    pub request_id: Option<String>,
}

/// One error in the input.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProblemError {
    /// JSON pointer (RFC 6901) into the body, such as `/amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Line of a file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Name of the column in a file, such as `lot_number`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What is wrong and what to do.
    #[schema(example = "is 11000")]
    pub detail: String,
}

impl ProblemError {
    /// An error at a JSON pointer of the body; the empty pointer is the whole body.
    pub fn at(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        ProblemError { pointer: Some(pointer.into()), detail: detail.into(), ..ProblemError::default() }
    }

    /// An error on a line of a file.
    pub fn on_line(line: u64, column: Option<String>, detail: impl Into<String>) -> Self {
        ProblemError { line: Some(line), column, detail: detail.into(), ..ProblemError::default() }
    }
}

impl Problem {
    /// A problem without positions.
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
    fn a_problem_has_the_fields_of_rfc_9457_and_a_code() {
        let mut problem = Problem::new(StatusCode::CONFLICT, "bid_too_low", "bid 100 at least");
        problem.errors.push(ProblemError::at("/amount", "is 50"));
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"type":"about:blank","title":"Conflict","status":409,"code":"bid_too_low","detail":"bid 100 at least","errors":[{"pointer":"/amount","detail":"is 50"}]}"#
        );
    }
}
