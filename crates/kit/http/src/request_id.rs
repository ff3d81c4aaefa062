//! Request ids: taken from a valid `X-Request-Id` header, or generated. Every response and every log line of a request
//! contains the id.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::{HeaderName, HeaderValue};
use tracing::{Instrument as _, Span};

/// The header.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARS_MAX: usize = 64;

tokio::task_local! {
    static CURRENT: String;
}

/// The id of the current request.
pub fn current() -> Option<String> {
    CURRENT.try_with(Clone::clone).ok()
}

/// The id and the log span of a request.
pub(crate) struct RequestIdentity {
    id: String,
    span: Span,
}

impl RequestIdentity {
    /// The id from the header, if it is valid, or a new one.
    pub(crate) fn of(request: &Request) -> Self {
        let given = request.headers().get(&X_REQUEST_ID).and_then(|value| value.to_str().ok());
        let id = given.filter(|id| is_valid(id)).map_or_else(generate, str::to_owned);
        let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
        Self { id, span }
    }

    /// Runs `answer` with this id in the task and in the log, and adds the header to the response.
    pub(crate) fn in_scope(self, answer: impl Future<Output = Response>) -> impl Future<Output = Response> {
        let header = HeaderValue::try_from(self.id.as_str());
        CURRENT.scope(self.id, answer).instrument(self.span).map(|mut response| {
            if let Ok(header) = header {
                response.headers_mut().insert(X_REQUEST_ID, header);
            }
            response
        })
    }
}

fn is_valid(id: &str) -> bool {
    (1..=CHARS_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// An id only names a request in the log, so the process id and a counter are enough.
fn generate() -> String {
    static OF_PROCESS: LazyLock<String> = LazyLock::new(|| format!("req-{:x}-", std::process::id()));
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut id = String::with_capacity(OF_PROCESS.len() + 16);
    id.push_str(&OF_PROCESS);
    // Writing to a string does not fail.
    _ = write!(id, "{:x}", NEXT.fetch_add(1, Ordering::Relaxed));
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_ids_of_harmless_characters_are_valid() {
        for (id, valid) in
            [("abc-1.2_3", true), ("", false), ("a b", false), ("a\"b", false), (&*"x".repeat(65), false)]
        {
            assert_eq!(is_valid(id), valid, "{id:?}");
        }
    }
}
