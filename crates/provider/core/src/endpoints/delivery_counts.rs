//! Counts the attempts and deliveries of an endpoint in a time range.
//!
//! The id of an attempt contains the time when it ended, so the store counts a range of the index of attempt ids, and
//! reads no attempt. The range is at most 28 days and [`ROWS_MAX`] rows.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::Id;
use crate::port::EndpointCounts;
use crate::provider::Provider;

/// Maximum number of counted attempts or deliveries.
const ROWS_MAX: usize = 5_000_000;
const RANGE_MAX: SignedDuration = SignedDuration::from_hours(28 * 24);
/// Maximum difference between the clocks of callers and the server.
const SKEW_MAX: SignedDuration = SignedDuration::from_mins(5);

impl Provider {
    /// Counts the attempts that ended between `since` (28 days before `until` when none) and `until` (now when none),
    /// and the waiting deliveries of messages that were sent in this range. 404; 400 `invalid_range` when `until` is in
    /// the future, when the range is longer than 28 days, or when it has more than five million attempts.
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
        let id = |prefix, at| -> Id { ids::lowest_id_at(prefix, at).into() };
        let ids = |prefix| -> Range<Id> { id(prefix, range.start)..id(prefix, range.end) };
        let counts = self.store().endpoint_counts(&endpoint.id, ids(ids::ATTEMPT), ids(ids::MESSAGE), ROWS_MAX).await?;
        counts.ok_or_else(|| invalid(format!("there are more than {ROWS_MAX} attempts; ask for a shorter range")))
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
