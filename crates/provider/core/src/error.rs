//! What can come of a use case besides its result.

use std::borrow::Cow;
use std::time::Duration;

use crate::port::error::StoreError;

/// Result of a use case.
pub type ProviderResult<T> = Result<T, ProviderError>;

/// A limit on how often something may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// What is counted by: `account`, `address` or `application`.
    pub name: &'static str,
    /// Requests in the window.
    pub requests: u32,
    /// Seconds.
    pub window_s: u32,
}

/// Why a use case did not do what was asked. A surface makes an answer of it with one `match`; the status that the
/// provider's API gives each is in its doc.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing, malformed or unknown: 401.
    #[error("the API key is not valid")]
    Unauthenticated,
    /// The key or token is good, and may not do this: 403.
    #[error("{0}")]
    Forbidden(&'static str),
    /// Too much of something in a short time: 429, with `Retry-After`.
    #[error("{detail}; try again in {} s", retry_after.as_secs())]
    TooManyRequests {
        /// For people.
        detail: &'static str,
        /// When it may be tried again, in whole seconds.
        retry_after: Duration,
        /// Which limit was met.
        quota: Quota,
    },
    /// The resource does not exist, or it belongs to another account: 404.
    #[error("not found")]
    NotFound,
    /// A unique name, uid or event id is taken: 409. For a message it means that this event id was accepted before.
    #[error("{detail}")]
    Conflict {
        /// Stable name.
        code: &'static str,
        /// For people.
        detail: String,
    },
    /// The request was understood and holds values that are not allowed: 422.
    #[error("{}", FieldError::list(.0))]
    Validation(Vec<FieldError>),
    /// The request can't be done as it is: 400.
    #[error("{detail}")]
    BadRequest {
        /// Stable name.
        code: &'static str,
        /// For people.
        detail: String,
    },
    /// The payload is over the limit: 413.
    #[error("the payload is too large")]
    TooLarge,
    /// The idempotency key was used for another request before: 422, and never 409, which for a message would mean that
    /// it was accepted.
    #[error("this idempotency key was used before, for another request")]
    IdempotencyMismatch,
    /// The store can't be reached or is busy; whether a write was done is not known. Trying again may help: 503.
    #[error("not available at the moment: {0}")]
    Unavailable(String),
    /// What is stored can't be understood: 500. The text is for the log, not for the answer.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ProviderError {
    /// Stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthenticated => "authentication_failed",
            Self::Forbidden(_) => "insufficient_access",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::NotFound => "not_found",
            Self::Conflict { code, .. } | Self::BadRequest { code, .. } => code,
            Self::Validation(_) => "validation",
            Self::TooLarge => "payload_too_large",
            Self::IdempotencyMismatch => "idempotency_key_reused",
            Self::Unavailable(_) => "unavailable",
            Self::Internal(_) => "internal",
        }
    }

    /// One value of the request's body that is not allowed.
    pub(crate) fn invalid(field: &'static str, msg: impl Into<String>) -> Self {
        Self::Validation(vec![FieldError::in_body([field.into()], msg)])
    }
}

/// A value that is not allowed: an entry of the API's `detail` list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Where it is: `body`, `query` or `path`, then field names and indexes.
    pub loc: Vec<Cow<'static, str>>,
    /// What is wrong, for people.
    pub msg: String,
    /// The API's `type`.
    pub kind: &'static str,
}

impl FieldError {
    /// All of them in a line: each with its place, without saying that it is in the body.
    fn list(faults: &[Self]) -> String {
        let fault = |fault: &Self| {
            let place = fault.loc.iter().skip_while(|part| *part == "body");
            let place = place.map(|part| &**part).collect::<Vec<_>>().join(".");
            if place.is_empty() { fault.msg.clone() } else { format!("{place}: {}", fault.msg) }
        };
        faults.iter().map(fault).collect::<Vec<_>>().join("; ")
    }

    /// `value_error` somewhere in the body.
    pub fn in_body(path: impl IntoIterator<Item = Cow<'static, str>>, msg: impl Into<String>) -> Self {
        let loc = std::iter::once(Cow::Borrowed("body")).chain(path).collect();
        Self { loc, msg: msg.into(), kind: "value_error" }
    }

    /// `value_error` in a query parameter.
    pub fn in_query(parameter: &'static str, msg: impl Into<String>) -> Self {
        Self { loc: vec!["query".into(), parameter.into()], msg: msg.into(), kind: "value_error" }
    }
}

impl From<StoreError> for ProviderError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Taken(field) => {
                Self::Conflict { code: "conflict", detail: format!("another one has this {field} already") }
            }
            StoreError::LimitReached => Self::BadRequest {
                code: "limit_reached",
                detail: "there are as many of these as there may be; delete one first".to_owned(),
            },
            StoreError::NotFound => Self::NotFound,
            StoreError::Conflict => Self::Unavailable("the application keeps changing".into()),
            // Each use case that hands in a key handles this itself; a key that is forgotten at that moment ends here.
            StoreError::Replayed => Self::Unavailable("the first request with this key is being forgotten".into()),
            StoreError::Unavailable(text) => Self::Unavailable(text),
            StoreError::Corrupt(text) => Self::Internal(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_valid_is_named_with_its_place() {
        let faults = vec![
            FieldError::in_body(["name".into()], "must not be empty"),
            FieldError::in_body(["channels".into(), "2".into()], "is given twice"),
            FieldError::in_query("limit", "must be a number"),
            FieldError::in_body([], "must be an object"),
        ];
        let text =
            "name: must not be empty; channels.2: is given twice; query.limit: must be a number; must be an object";
        assert_eq!(ProviderError::Validation(faults).to_string(), text);
    }
}
