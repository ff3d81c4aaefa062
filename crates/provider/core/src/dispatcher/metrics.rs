//! The dispatcher's metrics: counters, and gauges of its work in progress.

use std::time::Duration;

use kit_runtime::metrics::{self, Counter, DurationHistogram, Gauge, Histogram, Registry, Unit};

use crate::model::AttemptStatus;

/// Counters that change as events happen, and gauges that are set before each scrape.
pub(crate) struct Metrics {
    registry: Registry,
    accepted: Counter,
    accept: DurationHistogram,
    accept_batch: Histogram,
    delivered: Counter,
    failed: Counter,
    given_up: Counter,
    disabled: Counter,
    attempt: DurationHistogram,
    waited: DurationHistogram,
    delivery: DurationHistogram,
    record_batch: Histogram,
    under_way: Gauge,
    unrecorded: Gauge,
    unrecorded_age: Gauge,
    lanes: Gauge,
    active_lanes: Gauge,
    accept_queue: Gauge,
}

/// The dispatcher's work in progress.
pub(crate) struct DispatcherLoad {
    pub(crate) under_way: usize,
    /// Finished attempts whose record is not on disk.
    pub(crate) unrecorded: usize,
    /// How long the oldest of them has waited.
    pub(crate) unrecorded_for: Duration,
    pub(crate) lanes: usize,
    pub(crate) active_lanes: usize,
    pub(crate) accept_queue: usize,
}

/// State of an endpoint's lane on this node. All zero without a lane.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneGauges {
    pub(crate) queued: usize,
    pub(crate) under_way: usize,
    pub(crate) concurrency_limit: usize,
    pub(crate) paused_ms: i64,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("lotwire_provider");
        let new = Self {
            accepted: Counter::default(),
            accept: DurationHistogram::default(),
            accept_batch: metrics::batch_size_histogram(),
            delivered: Counter::default(),
            failed: Counter::default(),
            given_up: Counter::default(),
            disabled: Counter::default(),
            attempt: DurationHistogram::default(),
            waited: DurationHistogram::default(),
            delivery: DurationHistogram::default(),
            record_batch: metrics::batch_size_histogram(),
            under_way: Gauge::default(),
            unrecorded: Gauge::default(),
            unrecorded_age: Gauge::default(),
            lanes: Gauge::default(),
            active_lanes: Gauge::default(),
            accept_queue: Gauge::default(),
            registry: Registry::default(),
        };
        let seconds = || Unit::Seconds;
        registry.register("messages_accepted", "Messages that are on disk", new.accepted.clone());
        registry.register_with_unit("accept", "From a message's routing to its commit", seconds(), new.accept.clone());
        registry.register("accept_batch", "Messages in one transaction", new.accept_batch.clone());
        registry.register("deliveries_succeeded", "Attempts answered 2xx", new.delivered.clone());
        registry.register("attempts_failed", "Attempts answered otherwise or not at all", new.failed.clone());
        registry.register(
            "deliveries_given_up",
            "Deliveries after whose last attempt none follows",
            new.given_up.clone(),
        );
        registry.register("endpoints_disabled", "Endpoints disabled for failing or being gone", new.disabled.clone());
        registry.register_with_unit("attempt", "An attempt, whatever came of it", seconds(), new.attempt.clone());
        let waited = "From a delivery's arrival in memory to its attempt";
        registry.register_with_unit("attempt_wait", waited, seconds(), new.waited.clone());
        let delivery =
            "From a message's acceptance, or the time that it was wanted at, to the 2xx of its first attempt";
        registry.register_with_unit("delivery", delivery, seconds(), new.delivery.clone());
        registry.register("record_batch", "Attempts recorded in one transaction", new.record_batch.clone());
        registry.register("attempts_under_way", "Attempts under way on this node", new.under_way.clone());
        let unrecorded = "Attempts made on this node whose record is not on disk yet";
        registry.register("attempts_unrecorded", unrecorded, new.unrecorded.clone());
        let age = "For how long the oldest of them has waited";
        registry.register_with_unit("attempts_unrecorded_age", age, seconds(), new.unrecorded_age.clone());
        registry.register("lanes", "Endpoints with a lane on this node", new.lanes.clone());
        registry.register("lanes_active", "Lanes with something queued or under way", new.active_lanes.clone());
        registry.register("accept_queue", "Messages that wait for their transaction", new.accept_queue.clone());
        Self { registry, ..new }
    }

    pub(crate) fn accepted(&self, took: Duration) {
        self.accepted.inc();
        self.accept.observe(took);
    }

    pub(crate) fn accept_batch(&self, messages: usize) {
        self.accept_batch.observe(messages as f64);
    }

    pub(crate) fn attempted(&self, status: AttemptStatus, waited: Duration, took: Duration) {
        match status {
            AttemptStatus::Success => self.delivered.inc(),
            _ => self.failed.inc(),
        };
        self.waited.observe(waited);
        self.attempt.observe(took);
    }

    /// A first attempt succeeded this long after its message was accepted.
    pub(crate) fn delivered_first(&self, took: Duration) {
        self.delivery.observe(took);
    }

    pub(crate) fn given_up(&self) {
        self.given_up.inc();
    }

    pub(crate) fn disabled(&self) {
        self.disabled.inc();
    }

    pub(crate) fn record_batch(&self, records: usize) {
        self.record_batch.observe(records as f64);
    }

    /// The metrics as OpenMetrics text without its end mark.
    pub(crate) fn encode(&self, load: &DispatcherLoad) -> String {
        let set = |gauge: &Gauge, value: usize| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        set(&self.under_way, load.under_way);
        set(&self.unrecorded, load.unrecorded);
        self.unrecorded_age.set(i64::try_from(load.unrecorded_for.as_secs()).unwrap_or(i64::MAX));
        set(&self.lanes, load.lanes);
        set(&self.active_lanes, load.active_lanes);
        set(&self.accept_queue, load.accept_queue);
        metrics::encode_text(&self.registry)
    }
}
