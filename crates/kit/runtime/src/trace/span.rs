//! Spans: one step of a trace, with its time and attributes.

use std::fmt::Display;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::tracer::Exporting;
use super::{TraceParent, Tracer};

/// Characters of an attribute. A longer text is cut.
const TEXT_CHARS_MAX: usize = 256;

/// The role of a span, as OpenTelemetry names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Handles a request.
    Server,
    /// Sends a request.
    Client,
    /// A step of this process.
    Internal,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedSpan {
    /// The name: few different ones, without ids.
    pub name: String,
    /// The role.
    pub kind: SpanKind,
    /// The span's own position.
    pub position: TraceParent,
    /// The span that it is a part of, in the same trace.
    pub parent: Option<TraceParent>,
    /// The span that caused it, in another trace.
    pub link: Option<TraceParent>,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// Names and values.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Why it failed; none when it succeeded.
    pub error: Option<String>,
}

/// A span under way. It ends when it is dropped, and is then queued for export, if it is recorded.
#[derive(Debug)]
pub struct Span {
    position: Option<TraceParent>,
    recording: Option<Box<Recording>>,
}

/// A recorded span.
#[derive(Debug)]
struct Recording {
    span: FinishedSpan,
    began: Instant,
    exporting: Tracer,
}

impl Span {
    /// A span that is not recorded, at this position.
    pub(super) fn unrecorded(position: Option<TraceParent>) -> Self {
        Self { position, recording: None }
    }

    pub(super) fn recorded(exporting: &Tracer, span: FinishedSpan, began: Instant) -> Self {
        let position = Some(span.position);
        Self { position, recording: Some(Box::new(Recording { span, began, exporting: exporting.clone() })) }
    }

    /// The position that follows from this span: what a request sends as `traceparent`, and what is stored with its effect.
    /// Without an exporter, that of the span's origin.
    pub fn position(&self) -> Option<TraceParent> {
        self.position
    }

    /// Whether attributes are kept.
    pub fn is_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// Names the span again, once more is known.
    pub fn rename(&mut self, name: &dyn Display) {
        if let Some(recording) = &mut self.recording {
            recording.span.name = short(name);
        }
    }

    /// Adds an attribute. The text is formatted only if the span is recorded.
    pub fn set(&mut self, name: &'static str, text: &dyn Display) {
        if let Some(recording) = &mut self.recording {
            recording.span.attributes.push((name, Attribute::Text(short(text))));
        }
    }

    /// Adds an attribute.
    pub fn set_number(&mut self, name: &'static str, number: i64) {
        if let Some(recording) = &mut self.recording {
            recording.span.attributes.push((name, Attribute::Number(number)));
        }
    }

    /// Marks the span as failed.
    pub fn fail(&mut self, reason: &dyn Display) {
        if let Some(recording) = &mut self.recording {
            recording.span.error = Some(short(reason));
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(recording) = self.recording.take() else { return };
        let Recording { mut span, began, exporting } = *recording;
        if let Some(Exporting { queue, clock, .. }) = exporting.exporting() {
            span.took = clock.monotonic().saturating_duration_since(began);
            queue.push(span);
        }
    }
}

fn short(text: &dyn Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text,
        Some((end, _)) => text[..end].to_owned(),
    }
}
