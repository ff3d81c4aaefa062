//! Request ids: one for each request, taken from `X-Request-Id` when a caller gives a sane one, in every answer and log line.

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

/// Id of the request that is being answered.
pub fn current() -> Option<String> {
    CURRENT.try_with(Clone::clone).ok()
}

/// What a request is known by in the log and in its answer.
pub(crate) struct RequestIdentity {
    id: String,
    span: Span,
}

impl RequestIdentity {
    /// The id that the caller gave, if it can do no harm, or a new one.
    pub(crate) fn of(request: &Request) -> Self {
        let given = request.headers().get(&X_REQUEST_ID).and_then(|value| value.to_str().ok());
        let id = given.filter(|id| is_sane(id)).map_or_else(generate, str::to_owned);
        let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
        Self { id, span }
    }

    /// Holds for everything that happens until the request is answered, and marks the answer.
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

fn is_sane(id: &str) -> bool {
    (1..=CHARS_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// An id names a request in a log, nothing depends on it: a counter and the process are enough.
fn generate() -> String {
    static OF_PROCESS: LazyLock<String> = LazyLock::new(|| format!("req-{:x}-", std::process::id()));
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut id = String::with_capacity(OF_PROCESS.len() + 16);
    id.push_str(&OF_PROCESS);
    // A string takes whatever is written.
    _ = write!(id, "{:x}", NEXT.fetch_add(1, Ordering::Relaxed));
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_id_is_taken_when_it_can_do_no_harm() {
        for (id, sane) in [("abc-1.2_3", true), ("", false), ("a b", false), ("a\"b", false), (&*"x".repeat(65), false)]
        {
            assert_eq!(is_sane(id), sane, "{id:?}");
        }
        assert_ne!(generate(), generate());
    }
}
