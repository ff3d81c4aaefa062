//! The provider's metrics: the dispatcher's, and gauges read from the store on each scrape (`stored`).

mod stored;

use std::time::Duration;

use jiff::SignedDuration;
use kit_runtime::database_figures::{self, DatabaseFigures};
use kit_runtime::metrics::{self, Family, FloatGauge, Gauge, Labels, Registry, Unit};

use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::port::Backlog;
use crate::provider::Provider;

/// Time limit of the store's part of a scrape.
const STORE_MAX: Duration = Duration::from_secs(5);

impl Provider {
    /// The metrics as OpenMetrics text without its end mark. For these `endpoints` (by id), the text also has the
    /// waiting deliveries and the state of the lane on this node; invalid ids are ignored. While the store does not
    /// respond, metrics from the store are omitted.
    pub async fn metrics(&self, endpoints: &[String]) -> String {
        let stored = async { Ok(self.stored_metrics().await? + &self.endpoint_metrics(endpoints).await?) };
        let stored = tokio::time::timeout(STORE_MAX, stored).await;
        let stored = stored.unwrap_or_else(|_| Err(ProviderError::Unavailable("the store takes too long".to_owned())));
        let store_answers = encode_store_answers(stored.is_ok());
        let stored = stored.unwrap_or_else(|error| {
            tracing::warn!(%error, "the metrics of the store are missing");
            String::new()
        });
        self.dispatcher().encode_metrics() + &store_answers + &stored
    }

    /// The version of the tables and the size of the database.
    pub async fn database_figures(&self) -> ProviderResult<DatabaseFigures> {
        Ok(self.store().database_figures().await?)
    }

    /// How far this node's clock is ahead of the database server's; none for a database without a server.
    pub async fn clock_skew(&self) -> ProviderResult<Option<SignedDuration>> {
        let (read_at, begin) = (self.now(), self.clock().monotonic());
        let database = self.store().database_time().await?;
        let took = self.clock().monotonic().saturating_duration_since(begin);
        Ok(database.map(|database| database_figures::clock_skew(read_at, took, database)))
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
        let paused = Family::<Labels, FloatGauge>::default();
        registry.register_with_unit(
            "paused",
            "Remaining pause of the endpoint on this node",
            Unit::Seconds,
            paused.clone(),
        );
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
            ] {
                family.get_or_create(&labels).set(value);
            }
            paused.get_or_create(&labels).set(Duration::from_millis(lane.paused_ms.unsigned_abs()).as_secs_f64());
        }
        Ok(if endpoints.is_empty() { String::new() } else { metrics::encode_text(&registry) })
    }

    fn age_s(&self, backlog: &Backlog) -> i64 {
        backlog.oldest_at.map_or(0, |at| self.now().duration_since(at).as_secs().max(0))
    }
}

fn encode_store_answers(answers: bool) -> String {
    let mut registry = Registry::with_prefix("lotwire_provider");
    let gauge: Gauge = Gauge::default();
    gauge.set(answers.into());
    registry.register(
        "store_answers",
        "1 while the store responds; while it is 0, metrics of the store are missing",
        gauge,
    );
    metrics::encode_text(&registry)
}
