//! Health of endpoints over time: numbers of attempts in equal steps up to now, durations, and waiting deliveries.
//!
//! The cost is bounded: a call counts at most [`ROWS_MAX`] attempts, divided between its steps.

use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::{from_ms, to_ms};

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::ids;
use crate::model::{Endpoint, Id};
use crate::port::{AttemptTally, EndpointWaiting};
use crate::provider::Provider;

/// Maximum number of attempts that one call counts.
const ROWS_MAX: usize = 60_000;
/// Guaranteed number of counted attempts in one step.
const STEP_ROWS_MIN: usize = 50;
const DURATIONS_MAX: usize = 200;
/// Maximum number of counted deliveries of an endpoint.
const WAITING_MAX: usize = 10_000;

/// A time span of equal steps. The last step contains the current time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthSpan {
    /// Length of a step; at least a millisecond.
    pub step: SignedDuration,
    /// Number of steps.
    pub steps: usize,
}

impl HealthSpan {
    /// The beginnings of the steps, and the end of the last step. Steps begin at multiples of their length since 1970.
    pub fn bounds(self, now: Timestamp) -> Vec<Timestamp> {
        let step_ms = i64::try_from(self.step.as_millis()).unwrap_or(i64::MAX).max(1);
        let end = (to_ms(now).div_euclid(step_ms) + 1).saturating_mul(step_ms);
        let steps = i64::try_from(self.steps).unwrap_or(i64::MAX);
        (0..=steps).map(|no| from_ms(end - (steps - no).saturating_mul(step_ms))).collect()
    }
}

/// The health of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointHealth {
    /// One tally for each step, oldest first.
    pub tallies: Vec<AttemptTally>,
    /// The waiting deliveries.
    pub waiting: EndpointWaiting,
}

impl Provider {
    /// The health of each of these endpoints of the application, in their order. 404 (application).
    pub async fn endpoint_health(
        &self,
        caller: &Caller,
        application: &str,
        endpoints: &[Endpoint],
        span: HealthSpan,
    ) -> ProviderResult<Vec<EndpointHealth>> {
        let application = self.application(caller, application).await?;
        let bounds = span.bounds(self.now());
        let bounds: Vec<Id> = bounds.iter().map(|at| ids::lowest_id_at(ids::ATTEMPT, *at).into()).collect();
        let rows_max = (ROWS_MAX / (span.steps * endpoints.len()).max(1)).max(STEP_ROWS_MIN);
        let mut found = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.application == application.id) {
            found.push(EndpointHealth {
                tallies: self.store().attempt_tallies(&endpoint.id, &bounds, rows_max).await?,
                waiting: self.store().endpoint_waiting(&endpoint.id, WAITING_MAX).await?,
            });
        }
        Ok(found)
    }

    /// Durations in milliseconds of the latest attempts at these endpoints since `since`, at most 200 of each endpoint,
    /// ascending. 404 (application).
    pub async fn latest_durations(
        &self,
        caller: &Caller,
        application: &str,
        endpoints: &[Endpoint],
        since: Timestamp,
    ) -> ProviderResult<Vec<i64>> {
        let application = self.application(caller, application).await?;
        let after = ids::lowest_id_at(ids::ATTEMPT, since);
        let mut durations = Vec::new();
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.application == application.id) {
            durations.extend(self.store().latest_durations(&endpoint.id, &after, DURATIONS_MAX).await?);
        }
        durations.sort_unstable();
        Ok(durations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_aligned_and_the_last_contains_now() {
        let now: Timestamp = "2026-11-21T06:28:03Z".parse().unwrap();
        let bounds = HealthSpan { step: SignedDuration::from_hours(1), steps: 3 }.bounds(now);
        let expected = ["04", "05", "06", "07"].map(|hour| format!("2026-11-21T{hour}:00:00Z").parse().unwrap());
        assert_eq!(bounds, expected);
    }
}
