//! Distributed traces: the position in a trace that a request brings, and the spans of this process.
//!
//! A [`TraceParent`] is stored with what a request causes and sent with what follows from it, whether or not traces are
//! exported. A [`Tracer`] makes spans; without an exporter it makes none, and a span passes its origin on unchanged.
//!
//! A step that runs after its request has been answered (publishing an event, an attempt) begins a trace of its own with a
//! link to its origin: it may run hours later and many times, which no tool shows well inside the trace of the request.
//!
//! Guarantee: making and ending a span never waits. When the exporter is slow, spans are dropped and counted.

mod scope;
mod span;
mod span_queue;
mod trace_parent;
mod tracer;

pub use scope::{RequestOrigin, current, current_position, in_scope};
pub use span::{Attribute, FinishedSpan, Span, SpanKind};
pub use span_queue::{SpanCounts, SpanQueue};
pub use trace_parent::{InvalidTraceParent, TRACE_PARENT_CHARS, TraceId, TraceParent};
pub use tracer::Tracer;

/// The header that sends a [`TraceParent`].
pub const TRACEPARENT: &str = "traceparent";

/// The target of the log lines that tell what happened to one lot: its changes of status, its events, their messages and
/// deliveries. `log.level` can name it.
pub const STORY: &str = "story";
