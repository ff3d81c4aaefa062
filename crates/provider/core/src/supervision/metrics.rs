//! The provider's metrics: counters updated as events happen, and gauges read from the store on each scrape (`stored`).

mod stored;

use std::time::Duration;

use kit_runtime::metrics::{self, Counter, DurationHistogram, Family, Gauge, Histogram, Labels, Registry, Unit};

use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::AttemptStatus;
use crate::port::Backlog;
use crate::provider::Provider;

use stored::StoreMetrics;

/// How long the store may take to count; what this process counts itself is shown all the same.
const STORE_MAX: Duration = Duration::from_secs(5);

/// What is counted as it happens, and what is looked at when it is asked for.
pub(crate) struct Metrics {
    registry: Registry,
    /// What only the store knows.
    stored: StoreMetrics,
    store_answers: Gauge,
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

/// What the dispatcher has under way.
pub(crate) struct DispatcherLoad {
    pub(crate) under_way: usize,
    /// Attempts made whose record is not on disk, and for how long the oldest of them has waited.
    pub(crate) unrecorded: usize,
    pub(crate) unrecorded_for: Duration,
    pub(crate) lanes: usize,
    pub(crate) active_lanes: usize,
    pub(crate) accept_queue: usize,
}

/// How the lane of an endpoint stands on this node.
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
            store_answers: Gauge::default(),
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
            stored: StoreMetrics::default(),
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
        let answers = "1 while the store answers; while it is 0, what only the store knows is left out";
        registry.register("store_answers", answers, new.store_answers.clone());
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

    /// A first attempt went well, so long after its message was accepted.
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
}

impl Provider {
    /// The figures as OpenMetrics text without its end mark. Of the `endpoints` named here (by id), also what waits for each,
    /// and how its lane stands on this node; ids that are none are passed over. While the store does not answer, these and
    /// the backlog are left out: the rest is needed most then.
    pub async fn metrics(&self, endpoints: &[String]) -> String {
        let (metrics, load) = (self.dispatcher().metrics(), self.dispatcher().load());
        let set = |gauge: &Gauge, value: usize| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        set(&metrics.under_way, load.under_way);
        set(&metrics.unrecorded, load.unrecorded);
        metrics.unrecorded_age.set(i64::try_from(load.unrecorded_for.as_secs()).unwrap_or(i64::MAX));
        set(&metrics.lanes, load.lanes);
        set(&metrics.active_lanes, load.active_lanes);
        set(&metrics.accept_queue, load.accept_queue);
        let stored =
            async { Ok(self.stored_metrics(&metrics.stored).await? + &self.endpoint_metrics(endpoints).await?) };
        let stored = tokio::time::timeout(STORE_MAX, stored).await;
        let stored = stored.unwrap_or_else(|_| Err(ProviderError::Unavailable("the store takes too long".to_owned())));
        metrics.store_answers.set(stored.is_ok().into());
        let stored = stored.unwrap_or_else(|error| {
            tracing::warn!(%error, "figures are shown without those of the store");
            String::new()
        });
        metrics::encode_text(&metrics.registry) + &stored
    }

    async fn endpoint_metrics(&self, endpoints: &[String]) -> ProviderResult<String> {
        let mut registry = Registry::with_prefix("lotwire_provider_endpoint");
        let mut family = |name: &str, help: &str| {
            let family = Family::<Labels, Gauge>::default();
            registry.register(name, help, family.clone());
            family
        };
        let backlog = family("backlog", "Deliveries to the endpoint not finished, of all nodes");
        let age = family("backlog_age_seconds", "Age of the oldest message that waits for the endpoint");
        let queued = family("queued", "Deliveries that wait in this node's memory");
        let under_way = family("under_way", "Attempts under way on this node");
        let allowed = family("under_way_allowed", "Attempts that the endpoint seems to keep up with");
        let paused = family("paused_milliseconds", "How long this node leaves the endpoint alone yet");
        for endpoint in endpoints.iter().filter(|endpoint| ids::is_id(endpoint, ids::ENDPOINT)) {
            let labels = vec![("endpoint", endpoint.clone())];
            let waits = self.store().backlog(endpoint).await?;
            let lane = self.dispatcher().lane_gauges(endpoint);
            for (family, value) in [
                (&backlog, i64::try_from(waits.deliveries).unwrap_or(i64::MAX)),
                (&age, self.age_s(&waits)),
                (&queued, lane.queued as i64),
                (&under_way, lane.under_way as i64),
                (&allowed, lane.concurrency_limit as i64),
                (&paused, lane.paused_ms),
            ] {
                family.get_or_create(&labels).set(value);
            }
        }
        Ok(if endpoints.is_empty() { String::new() } else { metrics::encode_text(&registry) })
    }

    fn age_s(&self, backlog: &Backlog) -> i64 {
        backlog.oldest_at.map_or(0, |at| self.now().duration_since(at).as_secs().max(0))
    }
}
