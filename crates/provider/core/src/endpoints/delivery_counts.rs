//! Counts the attempts and deliveries of an endpoint in a time range of at most 28 days.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::counts::AttemptCounts;
use crate::model::{Endpoint, Id};
use crate::port::EndpointWaiting;
use crate::provider::Provider;
use crate::steps::attempt_counts::attempts_in;

const RANGE_MAX: SignedDuration = SignedDuration::from_hours(28 * 24);
/// Maximum difference between the clocks of callers and the server.
const SKEW_MAX: SignedDuration = SignedDuration::from_mins(5);

/// Attempts and waiting deliveries of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointCounts {
    /// Attempts that ended in the time range.
    pub attempts: AttemptCounts,
    /// Waiting deliveries of messages that were sent in the time range.
    pub waiting: EndpointWaiting,
}

impl Provider {
    /// Counts the attempts that ended between `since` (28 days before `until` when none) and `until` (now when none),
    /// and the waiting deliveries of messages that were sent in this range. 404; 400 `invalid_range` when `until` is in
    /// the future, or when the range is longer than 28 days.
    pub async fn endpoint_stats(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> ProviderResult<EndpointCounts> {
        let range = range(since, until, self.now())?;
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        let id = |at| -> Id { ids::lowest_id_at(ids::MESSAGE, at).into() };
        let messages = id(range.start)..id(range.end);
        Ok(EndpointCounts {
            attempts: attempts_in(self.store(), &endpoint.id, &range).await?,
            waiting: self.store().endpoint_waiting(&endpoint.id, Some(messages)).await?,
        })
    }

    /// The attempts at an endpoint that ended in this time range. The caller has checked that it may read the endpoint.
    pub async fn attempts_at(&self, endpoint: &Endpoint, range: &Range<Timestamp>) -> ProviderResult<AttemptCounts> {
        Ok(attempts_in(self.store(), &endpoint.id, range).await?)
    }
}

fn range(since: Option<Timestamp>, until: Option<Timestamp>, now: Timestamp) -> ProviderResult<Range<Timestamp>> {
    // Includes attempts that ended in the current millisecond.
    let until = until.unwrap_or(now + SignedDuration::from_millis(4));
    let since = since.unwrap_or(until - RANGE_MAX);
    if until > now + SKEW_MAX {
        return Err(invalid("until must not be in the future".into()));
    }
    if since > until {
        return Err(invalid("since must not be after until".into()));
    }
    if until.duration_since(since) > RANGE_MAX + SKEW_MAX {
        return Err(invalid("since must not be more than 28 days before until".into()));
    }
    Ok(since..until)
}

fn invalid(detail: String) -> ProviderError {
    ProviderError::BadRequest { code: "invalid_range", detail }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;

    use super::*;

    #[test]
    fn a_range_is_past_and_at_most_28_days() {
        const NOW: i64 = 1_795_242_483_123;
        const DAY: i64 = 24 * 60 * 60 * 1_000;
        for (since, until, valid) in [
            (None, None, true),
            (Some(NOW - 28 * DAY), None, true),
            (Some(NOW - 28 * DAY - 299_000), None, true),
            (Some(NOW - 29 * DAY), None, false),
            (None, Some(NOW - 100 * DAY), true),
            (Some(NOW - 100 * DAY), Some(NOW - 80 * DAY), true),
            (Some(NOW - 100 * DAY), Some(NOW - 70 * DAY), false),
            (Some(NOW - DAY), Some(NOW - 2 * DAY), false),
            (None, Some(NOW + 60_000), true),
            (None, Some(NOW + DAY), false),
        ] {
            assert_eq!(
                range(since.map(from_ms), until.map(from_ms), from_ms(NOW)).is_ok(),
                valid,
                "{since:?} {until:?}"
            );
        }
    }
}
