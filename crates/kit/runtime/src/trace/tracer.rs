//! Makes spans.

use std::fmt;
use std::sync::Arc;

use super::span::{FinishedSpan, Span, SpanKind};
use super::{SpanQueue, TraceParent};
use crate::clock::SharedClock;
use crate::random::SharedRandom;

/// Makes the spans of a process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Exporting>>);

/// What a tracer with an exporter needs.
pub(super) struct Exporting {
    pub(super) queue: SpanQueue,
    pub(super) clock: SharedClock,
    random: SharedRandom,
    sample_percent: u8,
}

impl Tracer {
    /// A tracer without an exporter.
    pub fn off() -> Self {
        Self(None)
    }

    /// A tracer whose spans are exported from `queue`. Of the traces that begin in this process, it records
    /// `sample_percent`. For a span with an origin, the origin decides.
    pub fn new(queue: SpanQueue, clock: SharedClock, random: SharedRandom, sample_percent: u8) -> Self {
        Self(Some(Arc::new(Exporting { queue, clock, random, sample_percent })))
    }

    /// Whether spans are exported.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// A span in the trace of `parent`; without one, the first span of a trace.
    pub fn child_of(&self, parent: Option<TraceParent>, name: &str, kind: SpanKind) -> Span {
        self.start(parent, None, name, kind)
    }

    /// The first span of a trace, with a link to `origin`, if there is one.
    pub fn linked_to(&self, origin: Option<TraceParent>, name: &str, kind: SpanKind) -> Span {
        self.start(None, origin, name, kind)
    }

    fn start(&self, parent: Option<TraceParent>, link: Option<TraceParent>, name: &str, kind: SpanKind) -> Span {
        let origin = parent.or(link);
        let Some(exporting) = &self.0 else { return Span::unrecorded(origin) };
        let is_sampled = match origin {
            Some(origin) => origin.is_sampled(),
            None => exporting.random.unit_f64() * 100.0 < f64::from(exporting.sample_percent),
        };
        let trace = parent.map_or_else(|| exporting.random_id(), |parent| parent.trace());
        let position = TraceParent::new(trace, exporting.random_id(), is_sampled);
        if !is_sampled {
            return Span::unrecorded(Some(position));
        }
        let span = FinishedSpan {
            name: name.to_owned(),
            kind,
            position,
            parent,
            link,
            at: exporting.clock.now(),
            took: std::time::Duration::ZERO,
            attributes: Vec::new(),
            error: None,
        };
        Span::recorded(self, span, exporting.clock.monotonic())
    }

    pub(super) fn exporting(&self) -> Option<&Exporting> {
        self.0.as_deref()
    }
}

impl Exporting {
    /// Random bytes, not all zero.
    fn random_id<const N: usize>(&self) -> [u8; N] {
        let mut id = [0; N];
        while id == [0; N] {
            self.random.fill(&mut id);
        }
        id
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_on() { "Tracer(on)" } else { "Tracer(off)" })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::super::Attribute;
    use super::*;
    use crate::clock::TestClock;
    use crate::random::SeededRandom;

    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn tracer(clock: &TestClock, spans_max: usize, percent: u8) -> (Tracer, SpanQueue) {
        let queue = SpanQueue::new(spans_max);
        let random = Arc::new(SeededRandom::new(7));
        (Tracer::new(queue.clone(), Arc::new(clock.clone()), random, percent), queue)
    }

    async fn ended(queue: &SpanQueue) -> Vec<FinishedSpan> {
        let mut spans = Vec::new();
        queue.take(&mut spans, 1_000).await;
        spans
    }

    #[tokio::test]
    async fn a_span_ends_when_it_is_dropped_and_has_its_time_and_attributes() {
        let clock = TestClock::default();
        let (tracer, queue) = tracer(&clock, 8, 100);
        let began = clock_now(&clock);
        let mut span = tracer.child_of(None, "publish", SpanKind::Client);
        span.set("lotwire.event_id", &"x.3");
        span.set("long", &"ä".repeat(300));
        span.set_number("attempt", 2);
        span.fail(&"refused");
        clock.advance(Duration::from_millis(250));
        let position = span.position();
        drop(span);
        let spans = ended(&queue).await;
        let [span] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!((span.at, span.took), (began, Duration::from_millis(250)));
        assert_eq!((Some(span.position), span.parent, span.link), (position, None, None));
        let long = Attribute::Text("ä".repeat(256));
        let event = Attribute::Text("x.3".into());
        assert_eq!(span.attributes, [("lotwire.event_id", event), ("long", long), ("attempt", Attribute::Number(2))]);
        assert_eq!(span.error.as_deref(), Some("refused"));
    }

    fn clock_now(clock: &TestClock) -> jiff::Timestamp {
        crate::clock::Clock::now(clock)
    }

    #[tokio::test]
    async fn a_child_is_in_the_trace_of_its_parent_and_a_linked_span_begins_a_trace() {
        let (tracer, queue) = tracer(&TestClock::default(), 8, 0);
        let caller: TraceParent = CALLER.parse().unwrap();
        let child = tracer.child_of(Some(caller), "request", SpanKind::Server).position().unwrap();
        let linked = tracer.linked_to(Some(child), "publish", SpanKind::Client).position().unwrap();
        assert_eq!(child.trace(), caller.trace());
        assert_ne!(child.span(), caller.span());
        assert_ne!(linked.trace(), caller.trace());
        let spans = ended(&queue).await;
        let origins: Vec<_> = spans.iter().map(|span| (span.parent, span.link)).collect();
        assert_eq!(origins, [(Some(caller), None), (None, Some(child))]);
    }

    #[tokio::test]
    async fn the_origin_decides_whether_a_span_is_recorded_and_the_percentage_without_one() {
        let sampled: TraceParent = CALLER.parse().unwrap();
        let unsampled: TraceParent = CALLER.replace("-01", "-00").parse().unwrap();
        for (percent, origin, is_recorded) in
            [(0, Some(sampled), true), (100, Some(unsampled), false), (0, None, false), (100, None, true)]
        {
            let (tracer, queue) = tracer(&TestClock::default(), 8, percent);
            let span = tracer.child_of(origin, "request", SpanKind::Server);
            let position = span.position().unwrap();
            assert_eq!((span.is_recorded(), position.is_sampled()), (is_recorded, is_recorded));
            drop(span);
            assert_eq!(ended(&queue).await.len(), usize::from(is_recorded), "{percent} {origin:?}");
        }
        let (tracer, queue) = tracer(&TestClock::default(), 1_000, 30);
        (0..1_000).for_each(|_| drop(tracer.child_of(None, "request", SpanKind::Server)));
        let recorded = ended(&queue).await.len();
        assert!((250..350).contains(&recorded), "{recorded}");
    }

    #[test]
    fn without_an_exporter_the_origin_is_passed_on_unchanged() {
        let caller: Option<TraceParent> = CALLER.parse().ok();
        let tracer = Tracer::off();
        assert_eq!(tracer.child_of(caller, "request", SpanKind::Server).position(), caller);
        assert_eq!(tracer.linked_to(caller, "publish", SpanKind::Client).position(), caller);
        assert_eq!(tracer.linked_to(None, "publish", SpanKind::Client).position(), None);
    }

    #[tokio::test]
    async fn a_full_queue_drops_and_counts() {
        let (tracer, queue) = tracer(&TestClock::default(), 2, 100);
        (0..5).for_each(|_| drop(tracer.child_of(None, "request", SpanKind::Server)));
        assert_eq!(queue.counts().dropped.load(Ordering::Relaxed), 3);
        assert_eq!(ended(&queue).await.len(), 2);
    }
}
