//! Rate limits: a number of requests in a window for each partition, such as an API key. The headers `RateLimit-Policy`
//! and `RateLimit` report them (IETF draft "RateLimit header fields for HTTP", structured fields).
//!
//! A partition may use its whole quota in a burst; the quota is restored evenly over the window ([`Gcra`]). The state is in
//! memory, so each node counts separately.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use kit_runtime::gcra::{Gcra, whole_seconds};

/// Header with the remaining requests.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
/// Header with the quota and the window.
pub const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Maximum number of partitions in memory. A partition that is not in memory has its whole quota.
const PARTITIONS_MAX: usize = 100_000;
/// Largest quota that the resolution of a one-second window allows.
pub const QUOTA_MAX: u32 = 100_000_000;

/// A quota for each partition.
#[derive(Debug)]
pub struct RateLimits<K> {
    policy: HeaderValue,
    name: &'static str,
    limit: Gcra,
    /// Time at which the whole quota is restored: the theoretical arrival time of [`Gcra`].
    restored_at: Mutex<HashMap<K, Duration>>,
}

/// The result for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitDecision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// Remaining requests.
    pub remaining: u64,
    /// Seconds until the whole quota is restored.
    pub reset_s: u64,
    /// Seconds until the next request is allowed; 0 when it is allowed now.
    pub retry_after_s: u64,
}

impl<K: Eq + Hash> RateLimits<K> {
    /// `quota` requests (1 to [`QUOTA_MAX`]) in `window_s` seconds (at least one). `name` is the name of the policy in
    /// the headers.
    pub fn new(name: &'static str, quota: u32, window_s: u32) -> Self {
        let (quota, window_s) = (quota.clamp(1, QUOTA_MAX), window_s.max(1));
        let policy = format!("\"{name}\";q={quota};w={window_s}");
        RateLimits {
            policy: HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("")),
            name,
            limit: Gcra::in_window(quota, Duration::from_secs(window_s.into())),
            restored_at: Mutex::default(),
        }
    }

    /// Counts a request of a partition. `now` is the time since any fixed one. A rejected request uses no quota.
    pub fn count(&self, partition: K, now: Duration) -> RateLimitDecision {
        let mut restored = self.restored_at.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut restored, &partition, now);
        let at = restored.entry(partition).or_insert(now);
        // If the clock was set back, a partition waits no longer than one window.
        let used = at.saturating_sub(now).min(self.limit.ahead_max());
        let taken = self.limit.take(used);
        let used = taken.unwrap_or(used);
        *at = now + used;
        let remaining = (self.limit.ahead_max() - used).as_nanos() / self.limit.interval.as_nanos();
        RateLimitDecision {
            allowed: taken.is_ok(),
            remaining: u64::try_from(remaining).unwrap_or(u64::MAX),
            reset_s: whole_seconds(used).as_secs(),
            retry_after_s: taken.err().map_or(0, |wait| whole_seconds(wait).as_secs()),
        }
    }

    /// Adds both headers to a response.
    pub fn write_headers(&self, verdict: RateLimitDecision, headers: &mut HeaderMap) {
        headers.insert(RATE_LIMIT_POLICY, self.policy.clone());
        let left = format!("\"{}\";r={};t={}", self.name, verdict.remaining, verdict.reset_s);
        if let Ok(left) = HeaderValue::try_from(left) {
            headers.insert(RATE_LIMIT, left);
        }
    }
}

/// Removes the partitions whose quota is restored; if there are none, removes all.
fn make_room<K: Eq + Hash>(restored: &mut HashMap<K, Duration>, partition: &K, now: Duration) {
    if restored.len() < PARTITIONS_MAX || restored.contains_key(partition) {
        return;
    }
    restored.retain(|_, at| *at > now);
    if restored.len() >= PARTITIONS_MAX {
        restored.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1_000);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_quota_may_be_used_in_a_burst_and_is_restored_evenly() {
        let limits = RateLimits::new("key", 6, 60);
        for left in [5, 4, 3, 2, 1, 0] {
            let verdict = limits.count("a", START);
            assert_eq!((verdict.allowed, verdict.remaining, verdict.retry_after_s), (true, left, 0));
        }
        let refused = limits.count("a", START);
        assert_eq!(refused, RateLimitDecision { allowed: false, remaining: 0, reset_s: 60, retry_after_s: 10 });
        assert_eq!(limits.count("a", START + 4 * SECOND).retry_after_s, 6);
        assert!(limits.count("b", START).allowed, "another partition has a quota of its own");
        let later = limits.count("a", START + 10 * SECOND);
        assert_eq!((later.allowed, later.remaining), (true, 0));
        assert_eq!(limits.count("a", START + 600 * SECOND).remaining, 5);
    }

    #[test]
    fn a_request_after_retry_after_seconds_is_allowed() {
        for (quota, window_s) in [(1, 1), (3, 1), (7, 60), (1_000, 60), (90_000, 1)] {
            let limits = RateLimits::new("key", quota, window_s);
            while limits.count((), START).allowed {}
            let wait_s = limits.count((), START).retry_after_s;
            assert!(limits.count((), START + Duration::from_secs(wait_s)).allowed, "{quota} in {window_s} s: {wait_s}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_delays_a_partition_by_at_most_a_window() {
        let limits = RateLimits::new("key", 2, 10);
        assert!(limits.count("a", START).allowed && limits.count("a", START).allowed);
        assert!(limits.count("a", SECOND).retry_after_s <= 10);
    }

    #[test]
    fn the_headers_are_structured_fields() {
        let limits = RateLimits::new("key", 100, 60);
        let mut headers = HeaderMap::new();
        limits.write_headers(limits.count("a", START), &mut headers);
        assert_eq!(headers[RATE_LIMIT_POLICY], "\"key\";q=100;w=60");
        assert_eq!(headers[RATE_LIMIT], "\"key\";r=99;t=1");
    }

    #[test]
    fn the_number_of_partitions_in_memory_is_limited() {
        let limits = RateLimits::new("key", 2, 10);
        for partition in 0..=PARTITIONS_MAX {
            limits.count(partition, START);
        }
        assert_eq!(limits.restored_at.lock().unwrap().len(), 1);
    }
}
