//! The summary at the end of the demonstration.

use std::collections::HashMap;

use consumer::{ApiClient, Arrival, DeliveryReport, ExpectedEvent};
use hdrhistogram::Histogram;
use jiff::Timestamp;
use serde::Serialize;

use crate::error::{CommandError, ErrorContext as _};

/// Longer latencies count as this one.
const LATENCY_MS_MAX: u64 = 10 * 60 * 1_000;

/// The summary. Scripts rely on the field names.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Summary {
    pub(super) expected: u64,
    pub(super) received: u64,
    pub(super) lost: u64,
    pub(super) duplicates: u64,
    pub(super) invalid: u64,
    pub(super) out_of_order: u64,
    /// Median latency, from the server's time of the status change to the receipt of the webhook.
    pub(super) p50_ms: u64,
    /// 99th percentile of the same latency.
    pub(super) p99_ms: u64,
}

impl Summary {
    pub(super) fn new(tally: DeliveryReport, latencies: &Histogram<u64>) -> Self {
        Summary {
            expected: tally.expected,
            received: tally.received,
            lost: tally.lost,
            duplicates: tally.duplicates,
            invalid: tally.invalid,
            out_of_order: tally.out_of_order,
            p50_ms: latencies.value_at_quantile(0.5),
            p99_ms: latencies.value_at_quantile(0.99),
        }
    }

    /// The summary as a table.
    pub(super) fn to_text(self) -> String {
        format!(
            "  events expected      {:>8}\n  webhooks received    {:>8}\n  lost                 {:>8}\n  \
             duplicates           {:>8}\n  invalid signatures   {:>8}\n  out of order         {:>8}\n  \
             hammer to webhook    {:>8} ms median, {} ms 99th percentile",
            self.expected,
            self.received,
            self.lost,
            self.duplicates,
            self.invalid,
            self.out_of_order,
            self.p50_ms,
            self.p99_ms
        )
    }
}

/// Milliseconds from each status change, as the event feed dates it, to the receipt of its webhook.
pub(super) async fn latencies(
    platform: &ApiClient,
    customer: &str,
    arrivals: &[Arrival],
) -> Result<Histogram<u64>, CommandError> {
    let mut occurred_at: HashMap<ExpectedEvent, Vec<Timestamp>> = HashMap::new();
    for event in consumer::read_feed(platform, customer).await? {
        occurred_at.entry(event.event).or_default().push(event.at);
    }
    let mut histogram = Histogram::new_with_bounds(1, LATENCY_MS_MAX, 3).context("creating a histogram")?;
    for arrival in arrivals {
        let Some(times) = occurred_at.get_mut(&arrival.event()) else { continue };
        if times.is_empty() {
            continue;
        }
        let latency = arrival.at.as_millisecond() - times.remove(0).as_millisecond();
        histogram.saturating_record(u64::try_from(latency).unwrap_or(0));
    }
    Ok(histogram)
}
