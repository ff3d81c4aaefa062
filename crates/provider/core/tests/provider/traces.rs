//! The position in a trace of the sender's request: stored with the message, linked from its attempts, and sent to receivers that
//! ask for it.

use std::sync::Arc;

use kit_runtime::clock::SystemClock;
use kit_runtime::random::SystemRandom;
use kit_runtime::trace::{self, Attribute, FinishedSpan, RequestOrigin, SpanQueue, TraceParent, Tracer};
use provider_core::model::Message;
use provider_core::{EndpointInput, EndpointPatch, PatchField, ProviderConfig};

use crate::fixture::{Fixture, quick};
use crate::receiver::{Arrival, Receiver, Reply};

const SENDER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn sender() -> TraceParent {
    SENDER.parse().unwrap()
}

/// Sends a message by a request with this position in a trace.
async fn send(fixture: &Fixture, position: Option<TraceParent>) -> Message {
    trace::in_scope(RequestOrigin { request_id: "req-1".into(), position }, fixture.send()).await
}

fn header(arrival: &Arrival) -> Option<&str> {
    arrival.headers.get("traceparent").map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn without_an_exporter_the_senders_position_reaches_only_receivers_that_ask_for_it() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(204)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = send(&fixture, Some(sender())).await;
    assert_eq!(header(&receiver.next().await), None, "the default is off");
    let stored = fixture.provider.message(&fixture.caller, "app", &message.id).await.unwrap();
    assert_eq!(stored.trace_parent, Some(sender()));

    let asks = EndpointPatch { sends_trace_parent: PatchField::Set(true), ..EndpointPatch::default() };
    fixture.provider.patch_endpoint(&fixture.caller, "app", &endpoint.id, asks).await.unwrap();
    send(&fixture, Some(sender())).await;
    assert_eq!(header(&receiver.next().await), Some(SENDER));
    send(&fixture, None).await;
    assert_eq!(header(&receiver.next().await), None, "the sender had none");

    // A header of the customer's own takes precedence, and a replacement without the field keeps the setting.
    let headers = Some([("Traceparent".to_owned(), "by hand".to_owned())].into());
    let own = EndpointInput { url: receiver.url(), headers, ..EndpointInput::default() };
    fixture.provider.put_endpoint(&fixture.caller, "app", &endpoint.id, own).await.unwrap();
    send(&fixture, Some(sender())).await;
    assert_eq!(header(&receiver.next().await), Some("by hand"));
    let endpoint = fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    assert!(endpoint.sends_trace_parent);
}

#[tokio::test]
async fn each_attempt_is_a_span_of_its_own_that_links_to_the_senders_request() {
    let queue = SpanQueue::new(100);
    let tracer = Tracer::new(queue.clone(), Arc::new(SystemClock), Arc::new(SystemRandom), 0);
    let fixture = Fixture::new(ProviderConfig { tracer, ..quick() }).await;
    let mut receiver = Receiver::start(|number| Reply::Status(if number == 0 { 500 } else { 204 })).await;
    let input = EndpointInput { url: receiver.url(), sends_trace_parent: Some(true), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input).await;
    // A message of a sender whose trace is not recorded.
    let unsampled: TraceParent = SENDER.replace("-01", "-00").parse().unwrap();
    let message = send(&fixture, Some(sender())).await;
    let arrivals = [receiver.next().await, receiver.next().await];
    send(&fixture, Some(unsampled)).await;
    let unrecorded = receiver.next().await;
    assert!(header(&unrecorded).unwrap().ends_with("-00"));

    let mut spans: Vec<FinishedSpan> = Vec::new();
    while spans.len() < 2 {
        queue.receive(&mut spans, 10).await;
    }
    fixture.finished(&endpoint).await;
    queue.take(&mut spans, 10).await;
    assert_eq!(spans.len(), 2, "{spans:#?}");
    for (number, (span, arrival)) in spans.iter().zip(&arrivals).enumerate() {
        assert_eq!((&*span.name, span.link, span.parent), ("deliver", Some(sender()), None));
        assert_eq!(header(arrival), Some(&*span.position.to_string()), "the header names the attempt");
        let value = |name: &str| span.attributes.iter().rfind(|(key, _)| *key == name).map(|(_, value)| value.clone());
        let text = |text: &str| Some(Attribute::Text(text.to_owned()));
        assert_eq!(value("lotwire.message_id"), text(&message.id));
        assert_eq!(value("lotwire.endpoint_id"), text(&endpoint.id));
        assert_eq!(value("lotwire.attempt"), Some(Attribute::Number(number as i64 + 1)));
        let (code, status) = [(500, "failed, is tried again"), (204, "delivered")][number];
        assert_eq!(value("http.response.status_code"), Some(Attribute::Number(code)));
        assert_eq!(value("lotwire.status"), text(status));
        assert_eq!(span.error.is_some(), number == 0);
    }
    assert_ne!(spans[0].position.trace(), spans[1].position.trace());
}
