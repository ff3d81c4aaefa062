//! Figures for operators: metrics of the node, gauges that are read from the store for a scrape, and the database.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::database_figures::{self, DatabaseFigures};
use kit_runtime::metrics::{self, Family, Gauge, Labels, Registry, Unit};

use crate::error::PlatformResult;
use crate::metrics::StoreFigures;
use crate::platform::Platform;
use crate::port::{CustomerBacklog, StoreError};

/// Time limit of the store's part of a scrape.
const STORE_MAX: Duration = Duration::from_secs(5);
/// Customers with metrics of their own: those whose oldest event has waited longest. The others share the label `other`.
const CUSTOMERS_MAX: usize = 50;
/// The label of the customers beyond [`CUSTOMERS_MAX`].
const OTHER: &str = "other";

impl Platform {
    /// The metrics as OpenMetrics text without its end mark. While the store does not respond, metrics from the store are
    /// omitted.
    pub async fn figures(&self) -> String {
        let stored = tokio::time::timeout(STORE_MAX, self.store_figures()).await;
        let stored =
            stored.unwrap_or_else(|_| Err(StoreError::Unavailable("the store takes too long".to_owned()).into()));
        let mut registry = Registry::with_prefix("lotwire_platform");
        let answers = "1 while the store responds; while it is 0, metrics of the store are missing";
        registry.register("store_answers", answers, gauge(u64::from(stored.is_ok())));
        match stored {
            Ok(stored) => register(&mut registry, &stored, self.now()),
            Err(error) => tracing::warn!(%error, "the metrics of the store are missing"),
        }
        metrics::encode_text(&self.metrics().registry) + &metrics::encode_text(&registry)
    }

    async fn store_figures(&self) -> PlatformResult<StoreFigures> {
        let now = self.clock().monotonic();
        if let Some(figures) = self.store_figures_cache().get(now) {
            return Ok(figures);
        }
        let customers = self.store().customer_backlogs().await?;
        let (next_end, readings) = (self.store().next_end().await?, self.store().reading_figures().await?);
        let mails = self.store().waiting_mails(self.now()).await?;
        let figures = StoreFigures { customers, next_end, readings, mails };
        self.store_figures_cache().put(figures.clone(), now);
        Ok(figures)
    }

    /// The version of the tables and the size of the database.
    pub async fn database_figures(&self) -> PlatformResult<DatabaseFigures> {
        Ok(self.store().database_figures().await?)
    }

    /// How far this node's clock is ahead of the database server's; none for a database without a server.
    pub async fn clock_skew(&self) -> PlatformResult<Option<SignedDuration>> {
        let (read_at, begin) = (self.now(), self.clock().monotonic());
        let database = self.store().database_time().await?;
        let took = self.clock().monotonic().saturating_duration_since(begin);
        Ok(database.map(|database| database_figures::clock_skew(read_at, took, database)))
    }
}

fn register(registry: &mut Registry, stored: &StoreFigures, now: Timestamp) {
    let age = |at: Option<Timestamp>| at.map_or(0, |at| now.duration_since(at).as_secs().max(0).unsigned_abs());
    let mut family = |name: &str, help: &str, unit: Option<Unit>| {
        let family = Family::<Labels, Gauge>::default();
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, family.clone()),
            None => registry.register(name, help, family.clone()),
        }
        family
    };
    let pending = family("outbox_events", "Events not published yet, by customer, each counted to 10,000", None);
    let oldest = "Age of the oldest event not published yet, by customer";
    let oldest = family("outbox_oldest_age", oldest, Some(Unit::Seconds));
    let quarantined = family("quarantine_events", "Events in quarantine, by customer, each counted to 10,000", None);
    let parked = "For how long the queue of a customer has been parked, 0 for a queue that is not";
    let parked = family("parked_queue_age", parked, Some(Unit::Seconds));
    let (listed, others) = listed(&stored.customers);
    let rows = listed.iter().map(|customer| (customer.customer.to_string(), customer));
    for (label, customer) in rows.chain([(OTHER.to_owned(), &others)]) {
        let labels = vec![("customer", label)];
        for (family, value) in [
            (&pending, customer.pending),
            (&oldest, age(customer.oldest_at)),
            (&quarantined, customer.quarantined),
            (&parked, age(customer.parked_at)),
        ] {
            family.get_or_create(&labels).set(signed(value));
        }
    }
    let parked = stored.customers.iter().filter(|customer| customer.parked_at.is_some()).count();
    registry.register("parked_queues", "Customers whose queue is parked", gauge(parked as u64));
    let overdue = "For how long the earliest end of a live lot has passed, 0 while none has";
    let overdue_age = gauge(age(stored.next_end));
    registry.register_with_unit("end_overdue", overdue, Unit::Seconds, overdue_age);
    let oldest = "Time since the last reading of the endpoints of the customer that was read longest ago";
    let oldest_age = gauge(age(stored.readings.oldest_at));
    registry.register_with_unit("endpoint_reading_oldest_age", oldest, Unit::Seconds, oldest_age);
    let without = "Customers whose provider API key may not read their endpoints";
    registry.register("endpoint_readings_without_right", without, gauge(stored.readings.without_right));
    let waiting = "Mails to bidders that are due or were tried in vain, counted to 100,000";
    registry.register("mails_waiting", waiting, gauge(stored.mails.mails));
    let oldest_age = gauge(age(stored.mails.oldest_at));
    registry.register_with_unit("mails_waiting_age", "Age of the oldest of them", Unit::Seconds, oldest_age);
}

/// The customers that are listed, the longest waiting first, and all others in one.
fn listed(customers: &[CustomerBacklog]) -> (Vec<CustomerBacklog>, CustomerBacklog) {
    let mut listed = customers.to_vec();
    listed.sort_by_key(|customer| {
        let since = [customer.oldest_at, customer.parked_at].into_iter().flatten().min();
        (since.unwrap_or(Timestamp::MAX), customer.customer)
    });
    let beyond = listed.split_off(listed.len().min(CUSTOMERS_MAX));
    let earliest = |at: fn(&CustomerBacklog) -> Option<Timestamp>| beyond.iter().filter_map(at).min();
    let others = CustomerBacklog {
        pending: beyond.iter().map(|customer| customer.pending).sum(),
        oldest_at: earliest(|customer| customer.oldest_at),
        quarantined: beyond.iter().map(|customer| customer.quarantined).sum(),
        parked_at: earliest(|customer| customer.parked_at),
        ..CustomerBacklog::default()
    };
    (listed, others)
}

fn gauge(value: u64) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(signed(value));
    gauge
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::port::{MailBacklog, ReadingFigures};

    fn at(s: i64) -> Timestamp {
        Timestamp::from_second(1_793_232_000 + s).unwrap()
    }

    fn customer(number: u128, pending: u64, oldest_s: i64) -> CustomerBacklog {
        let oldest_at = Some(at(oldest_s));
        CustomerBacklog { customer: Uuid::from_u128(number), pending, oldest_at, ..CustomerBacklog::default() }
    }

    fn text(stored: &StoreFigures) -> String {
        let mut registry = Registry::with_prefix("test");
        register(&mut registry, stored, at(100));
        metrics::encode_text(&registry)
    }

    #[test]
    fn without_waiting_events_one_series_of_each_metric_is_zero() {
        let text = text(&StoreFigures {
            customers: Vec::new(),
            next_end: Some(at(101)),
            readings: ReadingFigures::default(),
            mails: MailBacklog::default(),
        });
        for line in [
            r#"test_outbox_events{customer="other"} 0"#,
            r#"test_outbox_oldest_age_seconds{customer="other"} 0"#,
            r#"test_quarantine_events{customer="other"} 0"#,
            r#"test_parked_queue_age_seconds{customer="other"} 0"#,
            "test_parked_queues 0",
            "test_end_overdue_seconds 0",
            "test_endpoint_reading_oldest_age_seconds 0",
            "test_mails_waiting 0",
            "test_mails_waiting_age_seconds 0",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in {text}");
        }
    }

    #[test]
    fn customers_beyond_the_limit_share_one_series() {
        let mut customers: Vec<_> =
            (1..=52_u32).map(|number| customer(number.into(), number.into(), i64::from(number))).collect();
        customers[51].parked_at = Some(at(52));
        customers[50].quarantined = 7;
        let readings = ReadingFigures { oldest_at: Some(at(60)), without_right: 2 };
        let mails = MailBacklog { mails: 3, oldest_at: Some(at(10)) };
        let text = text(&StoreFigures { customers, next_end: Some(at(97)), readings, mails });
        for line in [
            r#"test_outbox_events{customer="00000000-0000-0000-0000-000000000001"} 1"#,
            r#"test_outbox_oldest_age_seconds{customer="00000000-0000-0000-0000-000000000001"} 99"#,
            r#"test_outbox_events{customer="00000000-0000-0000-0000-000000000032"} 50"#,
            r#"test_outbox_events{customer="other"} 103"#,
            r#"test_outbox_oldest_age_seconds{customer="other"} 49"#,
            r#"test_quarantine_events{customer="other"} 7"#,
            r#"test_parked_queue_age_seconds{customer="other"} 48"#,
            "test_parked_queues 1",
            "test_end_overdue_seconds 3",
            "test_endpoint_reading_oldest_age_seconds 40",
            "test_endpoint_readings_without_right 2",
            "test_mails_waiting 3",
            "test_mails_waiting_age_seconds 90",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in {text}");
        }
        assert_eq!(text.lines().filter(|line| line.starts_with("test_outbox_events{")).count(), 51);
    }
}
