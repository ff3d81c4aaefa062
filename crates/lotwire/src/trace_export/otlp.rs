//! Spans as a request of OTLP.

use bytes::Bytes;
use kit_runtime::random::Random;
use kit_runtime::trace::{Attribute, FinishedSpan, SpanKind, TraceParent};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status, span};
use prost::Message as _;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The process that made the spans.
pub(super) struct Service {
    instance_id: String,
}

impl Service {
    pub(super) fn of_this_process(random: &dyn Random) -> Self {
        Self { instance_id: kit_runtime::ids::token(random, 16) }
    }
}

/// The body of a request with these spans.
pub(super) fn request(service: &Service, spans: &[FinishedSpan]) -> Bytes {
    let attributes = vec![
        text("service.name", "lotwire"),
        text("service.version", VERSION),
        text("service.instance.id", &service.instance_id),
    ];
    let scope = InstrumentationScope { name: "lotwire".into(), version: VERSION.into(), ..Default::default() };
    let spans = ScopeSpans { scope: Some(scope), spans: spans.iter().map(span).collect(), ..Default::default() };
    let resource_spans = ResourceSpans {
        resource: Some(Resource { attributes, ..Default::default() }),
        scope_spans: vec![spans],
        ..Default::default()
    };
    ExportTraceServiceRequest { resource_spans: vec![resource_spans] }.encode_to_vec().into()
}

fn span(span: &FinishedSpan) -> Span {
    let FinishedSpan { name, kind, position, parent, link, at, took, attributes, error } = span;
    let began = u64::try_from(at.as_nanosecond()).unwrap_or(0);
    let kind = match kind {
        SpanKind::Server => span::SpanKind::Server,
        SpanKind::Client => span::SpanKind::Client,
        SpanKind::Internal => span::SpanKind::Internal,
    };
    Span {
        trace_id: position.trace().to_vec(),
        span_id: position.span().to_vec(),
        parent_span_id: parent.map_or_else(Vec::new, |parent| parent.span().to_vec()),
        flags: u32::from(position.is_sampled()),
        name: name.clone(),
        kind: kind.into(),
        start_time_unix_nano: began,
        end_time_unix_nano: began.saturating_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)),
        attributes: attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
        links: link.iter().map(span_link).collect(),
        status: error.as_ref().map(|reason| Status { message: reason.clone(), code: StatusCode::Error.into() }),
        ..Default::default()
    }
}

fn span_link(to: &TraceParent) -> span::Link {
    let (trace_id, span_id) = (to.trace().to_vec(), to.span().to_vec());
    span::Link { trace_id, span_id, flags: u32::from(to.is_sampled()), ..Default::default() }
}

fn attribute(name: &str, value: &Attribute) -> KeyValue {
    match value {
        Attribute::Text(value) => text(name, value),
        Attribute::Number(number) => key_value(name, Value::IntValue(*number)),
    }
}

fn text(name: &str, value: &str) -> KeyValue {
    key_value(name, Value::StringValue(value.to_owned()))
}

fn key_value(name: &str, value: Value) -> KeyValue {
    KeyValue { key: name.to_owned(), value: Some(AnyValue { value: Some(value) }), ..Default::default() }
}
