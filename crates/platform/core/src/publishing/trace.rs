//! The span and the log line of an event that is published.
//!
//! Publishing begins a trace of its own, which links to the request that changed the status: it can happen hours later, and
//! again after a failure. The request to the provider carries the position of the span, so the provider's part of the
//! story is in the same trace.

use contract::event::EventType;
use http::{HeaderMap, HeaderName, HeaderValue};
use kit_outbound::Response;
use kit_runtime::trace::{STORY, Span, SpanKind, TRACEPARENT, Tracer};
use serde::Deserialize;

use super::verdict::Verdict;
use crate::port::OutboxEvent;

/// The id of a message in the provider's response.
#[derive(Deserialize)]
struct MessageId {
    id: String,
}

/// See the module.
pub(super) struct PublishTrace<'a> {
    span: Span,
    event: &'a OutboxEvent,
    /// The provider's id of the message, if its response named it.
    message_id: Option<String>,
}

impl<'a> PublishTrace<'a> {
    pub(super) fn begin(tracer: &Tracer, event: &'a OutboxEvent) -> Self {
        let mut span = tracer.linked_to(event.trace_parent, "publish", SpanKind::Client);
        if span.is_recorded() {
            span.set("lotwire.event_id", &event.event_id());
            span.set("lotwire.customer_id", &event.customer);
            let subject = match event.event_type {
                EventType::ItemStatusChange => "lotwire.item_id",
                EventType::AuctionStatusChange => "lotwire.auction_id",
            };
            span.set(subject, &event.subject);
            span.set_number("lotwire.attempt", i64::from(event.attempts) + 1);
        }
        Self { span, event, message_id: None }
    }

    /// Adds the position of the span to a request to the provider.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        let position = self.span.position().map(|position| HeaderValue::try_from(position.to_string()));
        if let Some(Ok(position)) = position {
            headers.insert(HeaderName::from_static(TRACEPARENT), position);
        }
    }

    /// The provider's response to the message.
    pub(super) fn answered(&mut self, response: &Response) {
        self.span.set_number("http.response.status_code", response.status.as_u16().into());
        let is_used = self.span.is_recorded() || tracing::enabled!(target: STORY, tracing::Level::INFO);
        if is_used && response.status.is_success() {
            self.message_id = serde_json::from_slice::<MessageId>(&response.body).ok().map(|message| message.id);
        }
        if let Some(message_id) = &self.message_id {
            self.span.set("lotwire.message_id", message_id);
        }
    }

    /// Ends the span. The lane logs failed requests.
    pub(super) fn end(mut self, verdict: &Verdict) {
        let (Verdict::Retry { error, .. } | Verdict::Park { reason: error } | Verdict::Quarantine { error }) = verdict
        else {
            return self.log_published();
        };
        self.span.fail(error);
    }

    fn log_published(&self) {
        let event = self.event;
        let (item_id, auction_id) = match event.event_type {
            EventType::ItemStatusChange => (Some(event.subject), None),
            EventType::AuctionStatusChange => (None, Some(event.subject)),
        };
        tracing::info!(
            target: STORY,
            event_id = event.event_id(),
            item_id = item_id.map(tracing::field::display),
            auction_id = auction_id.map(tracing::field::display),
            customer_id = %event.customer,
            message_id = self.message_id,
            attempt = event.attempts + 1,
            trace_id = self.span.position().map(|position| tracing::field::display(position.trace_id())),
            "event published"
        );
    }
}
