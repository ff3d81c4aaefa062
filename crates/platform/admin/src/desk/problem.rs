//! Refusals of the desk's requests, as JSON that its script reads: a stable code, and a sentence for the clerk.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use kit_design::error_page::sentence;
use kit_http::json::JsonError;
use platform_core::PlatformError;
use platform_core::users::UserRefusal;
use platform_rules::Rejection;
use serde::Serialize;

use super::amounts::Money;
use super::state::DeskState;
use crate::room_words;

/// Why a request was refused.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeskProblem {
    #[serde(skip)]
    status: StatusCode,
    code: &'static str,
    message: String,
    /// For a buyer who is refused: true when the paddle has no registration, and the confirmation makes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    registers: Option<bool>,
    /// For a paddle without a registration: a registered one that differs only in case or leading zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    similar: Option<String>,
    /// The present state, when another desk or bidder was faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Box<DeskState>>,
}

impl IntoResponse for DeskProblem {
    fn into_response(self) -> Response {
        kit_http::json::response(self.status, kit_http::json::text(&self))
    }
}

impl DeskProblem {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), registers: None, similar: None, state: None }
    }

    /// 400: a request that the script does not send.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", message)
    }

    /// 412 with the present state.
    pub(crate) fn outpaced(state: DeskState) -> Self {
        let message = "The sale changed before this command arrived, so it was not done.";
        let problem = Self::new(StatusCode::PRECONDITION_FAILED, "precondition_failed", message);
        Self { state: Some(Box::new(state)), ..problem }
    }
}

impl DeskProblem {
    /// The same problem about a buyer, in other words.
    pub(super) fn about_buyer(self, message: String, registers: bool) -> Self {
        Self { message, registers: Some(registers), ..self }
    }

    /// The same problem, in other words.
    pub(super) fn saying(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// The same problem, with the registered paddle that the clerk may have meant.
    pub(super) fn with_similar(self, similar: Option<String>) -> Self {
        Self { similar, ..self }
    }

    /// The refusal of a command, in words of the room: amounts as the desk writes them, and the lot in the ring by its
    /// number.
    pub(super) fn in_words(error: PlatformError, lot: Option<&str>, money: &Money) -> Self {
        let lot = lot.map_or("The lot".to_owned(), |number| format!("Lot {number}"));
        let message = match &error {
            PlatformError::Rejected(rejection) => room_words::of(rejection, &lot, &|minor| money.text(minor)),
            PlatformError::NotFound("waiting item") => Some("No lot waits.".to_owned()),
            PlatformError::Busy => Some("Others changed the sale at the same time. Press the key again.".to_owned()),
            PlatformError::NotFound("item") => Some("This sale has no such lot.".to_owned()),
            _ => None,
        };
        let problem = Self::from(error);
        let message = message.unwrap_or_else(|| problem.message.clone());
        Self { message, ..problem }
    }
}

impl From<JsonError> for DeskProblem {
    fn from(error: JsonError) -> Self {
        Self::new(error.status(), error.code(), sentence(&error.to_string()))
    }
}

impl From<PlatformError> for DeskProblem {
    fn from(error: PlatformError) -> Self {
        let status = match &error {
            PlatformError::NotFound(_) => StatusCode::NOT_FOUND,
            PlatformError::Rejected(Rejection::FieldInvalid { .. } | Rejection::ReasonRequired)
            | PlatformError::Invalid(_)
            | PlatformError::IdempotencyMismatch => StatusCode::UNPROCESSABLE_ENTITY,
            PlatformError::PreconditionFailed { .. } => StatusCode::PRECONDITION_FAILED,
            PlatformError::Unauthenticated => StatusCode::UNAUTHORIZED,
            PlatformError::Forbidden(_) | PlatformError::User(UserRefusal::ClerkNotAssigned) => StatusCode::FORBIDDEN,
            PlatformError::DiskFull
            | PlatformError::Unavailable(_)
            | PlatformError::ListenersFull { .. }
            | PlatformError::UploadsFull { .. } => StatusCode::SERVICE_UNAVAILABLE,
            PlatformError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::CONFLICT,
        };
        let code = error.code();
        let message = match &error {
            // The details of an internal error go to the log only.
            PlatformError::Internal(_) | PlatformError::Unavailable(_) => {
                tracing::error!(error = error.full_message(), "a request of the clerk's desk failed");
                "The server could not do it. Press the key again.".to_owned()
            }
            other => sentence(&other.to_string()),
        };
        Self::new(status, code, message)
    }
}
