//! Counts the attempts at an endpoint in a time range: whole hours from the counts, the parts of hours at both ends from the
//! index of attempts. An id contains the time at which its attempt ended.

use std::ops::Range;

use jiff::Timestamp;

use crate::ids;
use crate::model::Id;
use crate::model::counts::{AttemptCounts, SplitRange};
use crate::port::{CountScope, Store, StoreResult};

/// The attempts that ended in this range.
pub(crate) async fn attempts_in(
    store: &dyn Store,
    endpoint: &Id,
    range: &Range<Timestamp>,
) -> StoreResult<AttemptCounts> {
    let SplitRange { hours, ends } = SplitRange::of(range);
    let mut sum = AttemptCounts::default();
    if !hours.is_empty() {
        for (_, counts) in store.delivery_counts(&CountScope::Endpoint(endpoint.clone()), hours).await? {
            sum += counts.attempts;
        }
    }
    for end in ends {
        let id = |at| Id::from(ids::lowest_id_at(ids::ATTEMPT, at));
        sum += store.count_attempts(endpoint, id(end.start)..id(end.end)).await?;
    }
    Ok(sum)
}
