//! What a delivery keeps of its message for traces and for the log: the trace of the request that sent the message, and the
//! sender's id of the event.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::trace::{STORY, Span, SpanKind, TraceParent, Tracer};

use super::outcome::Outcome;
use crate::model::{AttemptStatus, Id, Message};
use crate::port::DeliveryOutcome;

/// See the module. The deliveries of a message share it.
#[derive(Debug)]
pub(super) struct MessageOrigin {
    trace_parent: Option<TraceParent>,
    event_id: Option<Box<str>>,
}

impl MessageOrigin {
    /// The origin of the message's deliveries; none, without an allocation, when nothing would use it.
    pub(super) fn of(message: &Message, tracer: &Tracer) -> Option<Arc<Self>> {
        let is_used = message.trace_parent.is_some() || tracer.is_on() || is_logged();
        let event_id = || message.event_id.as_deref().map(Box::from);
        is_used.then(|| Arc::new(Self { trace_parent: message.trace_parent, event_id: event_id() }))
    }
}

/// Whether attempts are logged.
fn is_logged() -> bool {
    tracing::enabled!(target: STORY, tracing::Level::DEBUG)
}

/// The span and the log line of an attempt.
pub(super) struct AttemptTrace {
    span: Span,
    origin: Option<Arc<MessageOrigin>>,
    message: Id,
    endpoint: Id,
    number: u32,
}

impl AttemptTrace {
    /// Begins an attempt, which is the first step of a trace that links to the origin of its message. `number` counts the
    /// attempts from 1.
    pub(super) fn begin(
        tracer: &Tracer,
        origin: Option<Arc<MessageOrigin>>,
        message: &Id,
        endpoint: &Id,
        number: u32,
    ) -> Self {
        let trace_parent = origin.as_ref().and_then(|origin| origin.trace_parent);
        let mut span = tracer.linked_to(trace_parent, "deliver", SpanKind::Client);
        span.set("lotwire.message_id", message);
        span.set("lotwire.endpoint_id", endpoint);
        span.set_number("lotwire.attempt", number.into());
        if let Some(event_id) = origin.as_ref().and_then(|origin| origin.event_id.as_deref()) {
            span.set("lotwire.event_id", &event_id);
        }
        Self { span, origin, message: message.clone(), endpoint: endpoint.clone(), number }
    }

    /// What the request sends as `traceparent` to an endpoint that asks for it.
    pub(super) fn position(&self) -> Option<TraceParent> {
        self.span.position()
    }

    /// Ends the span with the outcome, and logs it. Many attempts are made, so only the end of a delivery that failed is
    /// logged at `info`.
    pub(super) fn end(mut self, outcome: &Outcome, next: DeliveryOutcome, took: Duration) {
        let status = match (outcome.status, next) {
            (AttemptStatus::Success, _) => "delivered",
            (_, DeliveryOutcome::Retry { .. }) => "failed, is tried again",
            (_, DeliveryOutcome::Done) => "failed, is not tried again",
        };
        self.span.set("lotwire.status", &status);
        if outcome.code > 0 {
            self.span.set_number("http.response.status_code", outcome.code.into());
        }
        if outcome.status != AttemptStatus::Success {
            // The text of the response belongs to the receiver.
            match outcome.code {
                0 => self.span.fail(&outcome.response),
                code => self.span.fail(&code),
            }
        }
        let is_given_up = outcome.status != AttemptStatus::Success && next == DeliveryOutcome::Done;
        if is_given_up {
            tracing::info!(
                target: STORY,
                message_id = &*self.message,
                event_id = self.event_id(),
                endpoint_id = &*self.endpoint,
                attempt = self.number,
                code = outcome.code,
                trace_id = self.trace_id(),
                "delivery failed and is not tried again"
            );
        } else if is_logged() {
            tracing::debug!(
                target: STORY,
                message_id = &*self.message,
                event_id = self.event_id(),
                endpoint_id = &*self.endpoint,
                attempt = self.number,
                code = outcome.code,
                took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                trace_id = self.trace_id(),
                status,
                "delivery attempted"
            );
        }
    }

    fn event_id(&self) -> Option<&str> {
        self.origin.as_ref()?.event_id.as_deref()
    }

    fn trace_id(&self) -> Option<String> {
        self.span.position().map(|position| position.trace_id().to_string())
    }
}
