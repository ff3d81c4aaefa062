//! Rate limits: a number of requests in a window for each partition, such as an API key. The headers `RateLimit-Policy`
//! and `RateLimit` report them (IETF draft "RateLimit header fields for HTTP", structured fields).
//!
//! The algorithm is GCRA: it stores one number for each partition, the time at which the whole quota will be available
//! again. A partition may use its whole quota in a burst; the quota is restored evenly over the window. The state is in
//! memory, so each node counts separately.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};

/// Header with the remaining requests.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
/// Header with the quota and the window.
pub const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

const NS_PER_S: u64 = 1_000_000_000;
/// Maximum number of partitions in memory. A partition that is not in memory has its whole quota.
const PARTITIONS_MAX: usize = 100_000;
/// Largest quota that the resolution of a one-second window allows.
pub const QUOTA_MAX: u32 = 100_000_000;

/// A quota for each partition.
#[derive(Debug)]
pub struct RateLimits<K> {
    policy: HeaderValue,
    name: &'static str,
    window_ns: u64,
    /// Time in which one request is restored.
    interval_ns: u64,
    /// Time at which the whole quota is restored.
    restored_at_ns: Mutex<HashMap<K, u64>>,
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
        let window_ns = u64::from(window_s) * NS_PER_S;
        let policy = format!("\"{name}\";q={quota};w={window_s}");
        RateLimits {
            policy: HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("")),
            name,
            window_ns,
            interval_ns: window_ns / u64::from(quota),
            restored_at_ns: Mutex::default(),
        }
    }

    /// Counts a request of a partition. `now_ns` is in nanoseconds of any clock. A rejected request uses no quota.
    pub fn count(&self, partition: K, now_ns: u64) -> RateLimitDecision {
        let mut restored = self.restored_at_ns.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut restored, &partition, now_ns);
        let at = restored.entry(partition).or_insert(now_ns);
        // If the clock was set back, a partition waits no longer than one window.
        let before = (*at).clamp(now_ns, now_ns + self.window_ns);
        let after = before + self.interval_ns;
        let allowed = after - now_ns <= self.window_ns;
        *at = if allowed { after } else { before };
        let used_ns = *at - now_ns;
        let next_ns = (used_ns + self.interval_ns).saturating_sub(self.window_ns);
        RateLimitDecision {
            allowed,
            remaining: (self.window_ns - used_ns) / self.interval_ns,
            reset_s: used_ns.div_ceil(NS_PER_S),
            retry_after_s: if allowed { 0 } else { next_ns.div_ceil(NS_PER_S).max(1) },
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
fn make_room<K: Eq + Hash>(restored: &mut HashMap<K, u64>, partition: &K, now_ns: u64) {
    if restored.len() < PARTITIONS_MAX || restored.contains_key(partition) {
        return;
    }
    restored.retain(|_, at| *at > now_ns);
    if restored.len() >= PARTITIONS_MAX {
        restored.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_NS: u64 = 1_000 * NS_PER_S;

    #[test]
    fn a_quota_may_be_used_in_a_burst_and_is_restored_evenly() {
        let limits = RateLimits::new("key", 6, 60);
        for left in [5, 4, 3, 2, 1, 0] {
            let verdict = limits.count("a", START_NS);
            assert_eq!((verdict.allowed, verdict.remaining, verdict.retry_after_s), (true, left, 0));
        }
        let refused = limits.count("a", START_NS);
        assert_eq!(refused, RateLimitDecision { allowed: false, remaining: 0, reset_s: 60, retry_after_s: 10 });
        assert_eq!(limits.count("a", START_NS + 4 * NS_PER_S).retry_after_s, 6);
        assert!(limits.count("b", START_NS).allowed, "another partition has a quota of its own");
        let later = limits.count("a", START_NS + 10 * NS_PER_S);
        assert_eq!((later.allowed, later.remaining), (true, 0));
        assert_eq!(limits.count("a", START_NS + 600 * NS_PER_S).remaining, 5);
    }

    #[test]
    fn a_request_after_retry_after_seconds_is_allowed() {
        for (quota, window_s) in [(1, 1), (3, 1), (7, 60), (1_000, 60), (90_000, 1)] {
            let limits = RateLimits::new("key", quota, window_s);
            while limits.count((), START_NS).allowed {}
            let wait_s = limits.count((), START_NS).retry_after_s;
            assert!(limits.count((), START_NS + wait_s * NS_PER_S).allowed, "{quota} in {window_s} s: {wait_s}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_delays_a_partition_by_at_most_a_window() {
        let limits = RateLimits::new("key", 2, 10);
        assert!(limits.count("a", START_NS).allowed && limits.count("a", START_NS).allowed);
        assert!(limits.count("a", 1).retry_after_s <= 10);
    }

    #[test]
    fn the_headers_are_structured_fields() {
        let limits = RateLimits::new("key", 100, 60);
        let mut headers = HeaderMap::new();
        limits.write_headers(limits.count("a", START_NS), &mut headers);
        assert_eq!(headers[RATE_LIMIT_POLICY], "\"key\";q=100;w=60");
        assert_eq!(headers[RATE_LIMIT], "\"key\";r=99;t=1");
    }

    #[test]
    fn the_number_of_partitions_in_memory_is_limited() {
        let limits = RateLimits::new("key", 2, 10);
        for partition in 0..=PARTITIONS_MAX {
            limits.count(partition, START_NS);
        }
        assert_eq!(limits.restored_at_ns.lock().unwrap().len(), 1);
    }
}
