//! Request ids: taken from a valid `X-Request-Id` header, or generated. Every log line of a request contains the id, and every
//! response of an API; pages have only the log lines. Log lines of a request with a position in a trace contain the id of the trace, too.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::{HeaderName, HeaderValue};
use kit_runtime::trace::{self, RequestOrigin, TraceParent};
use tracing::{Instrument as _, Span, field};

/// The header.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARS_MAX: usize = 64;

/// The id of the current request.
pub fn current() -> Option<String> {
    trace::current().map(|origin| origin.request_id.as_ref().to_owned())
}

/// The id of a request: that of the header, if it is valid, or a new one. A surface that is mounted in another uses the id of
/// that one.
fn of(request: &Request) -> Arc<str> {
    if let Some(outer) = trace::current() {
        return outer.request_id;
    }
    let given = request.headers().get(&X_REQUEST_ID).and_then(|value| value.to_str().ok());
    given.filter(|id| is_valid(id)).map_or_else(generate, Arc::from)
}

/// The id and the log span of a request.
pub(crate) struct RequestIdentity {
    origin: RequestOrigin,
    span: Span,
}

impl RequestIdentity {
    /// The identity of a request with this position in a trace. Its log lines have this path.
    pub(crate) fn of(request: &Request, path: &str, position: Option<TraceParent>) -> Self {
        let origin = RequestOrigin { request_id: of(request), position };
        let request_id = &*origin.request_id;
        let trace_id = position.map(|position| field::display(position.trace_id()));
        let method = request.method();
        let span = tracing::info_span!("request", request_id, %method, path, trace_id);
        Self { origin, span }
    }

    /// Runs `answer` with this id in the task and in the log.
    pub(crate) fn in_scope(self, answer: impl Future<Output = Response>) -> impl Future<Output = Response> {
        trace::in_scope(self.origin, answer).instrument(self.span)
    }

    /// As [`Self::in_scope`], and adds the header to the response.
    pub(crate) fn shown(self, answer: impl Future<Output = Response>) -> impl Future<Output = Response> {
        let header = HeaderValue::try_from(&*self.origin.request_id);
        self.in_scope(answer).map(|mut response| {
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
fn generate() -> Arc<str> {
    static OF_PROCESS: LazyLock<String> = LazyLock::new(|| format!("req-{:x}-", std::process::id()));
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut buffer = [0; CHARS_MAX];
    let mut rest = &mut buffer[..];
    // Two numbers of 64 bits at most fit into the buffer.
    _ = write!(rest, "{}{:x}", *OF_PROCESS, NEXT.fetch_add(1, Ordering::Relaxed));
    let length = CHARS_MAX - rest.len();
    String::from_utf8_lossy(&buffer[..length]).into()
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

    #[test]
    fn generated_ids_are_valid_and_different() {
        let (one, other) = (generate(), generate());
        assert!(is_valid(&one) && is_valid(&other) && one != other, "{one} {other}");
        assert!(one.starts_with(&format!("req-{:x}-", std::process::id())), "{one}");
    }
}
