//! The span of a request: from its head to the head of its response.

use axum::extract::Request;
use http::{HeaderMap, StatusCode};
use kit_runtime::trace::{self, Span, SpanKind, TRACEPARENT, TraceParent, Tracer};

/// The span of a request.
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins the span of a request that has just arrived, in the trace of its caller, or of the surface that this one is
    /// mounted in.
    pub(crate) fn begin(tracer: &Tracer, request: &Request) -> Self {
        let caller = trace::current().map_or_else(|| trace_parent(request.headers()), |outer| outer.position);
        let mut span = tracer.child_of(caller, "request", SpanKind::Server);
        span.set("http.request.method", request.method());
        Self(span)
    }

    /// What is stored with the effect of the request.
    pub(crate) fn position(&self) -> Option<TraceParent> {
        self.0.position()
    }

    /// Names the operation and the path.
    pub(crate) fn name(&mut self, operation: &str, path: &str) {
        self.0.rename(&operation);
        self.0.set("url.path", &path);
    }

    /// Ends the span with the status of the response.
    pub(crate) fn end(mut self, status: StatusCode) {
        self.0.set_number("http.response.status_code", status.as_u16().into());
        if status.is_server_error() {
            self.0.fail(&status);
        }
    }
}

/// The caller's position in a trace. A request with two headers or an invalid one has none, as the standard requires.
fn trace_parent(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let first = values.next()?;
    if values.next().is_some() {
        return None;
    }
    first.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_request_has_the_position_of_its_only_valid_header() {
        const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        const OTHER: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
        for (values, is_valid) in
            [(&[VALID][..], true), (&[], false), (&[VALID, OTHER], false), (&[VALID, VALID], false), (&["x"], false)]
        {
            let headers = values
                .iter()
                .map(|value| (HeaderName::from_static(TRACEPARENT), HeaderValue::from_static(value)))
                .collect();
            let position = trace_parent(&headers).map(|position| position.to_string());
            assert_eq!(position.as_deref(), is_valid.then_some(VALID), "{values:?}");
        }
    }
}
