//! Rate limit per account: the requests of one second at once, then evenly spaced.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kit_runtime::gcra::Gcra;

use crate::model::Id;

const SECOND: Duration = Duration::from_secs(1);
/// Number of accounts above which the limiters that no caller holds are removed.
const ACCOUNTS_MAX: usize = 10_000;

/// The limiter of one account. A request costs one atomic exchange.
pub(crate) struct RateLimiter {
    start: Instant,
    /// The theoretical arrival time of [`Gcra`], in nanoseconds since `start`.
    tat_ns: AtomicU64,
}

impl RateLimiter {
    pub(crate) fn new(now: Instant) -> Self {
        Self { start: now, tat_ns: AtomicU64::new(0) }
    }

    /// Counts a request, or returns how long to wait for it.
    pub(crate) fn take(&self, now: Instant, per_second: u32) -> Result<(), Duration> {
        let gcra = Gcra::in_window(per_second, SECOND);
        let now_ns = nanoseconds(now.saturating_duration_since(self.start));
        let ahead = |tat_ns: u64| Duration::from_nanos(tat_ns.saturating_sub(now_ns));
        let taken = self.tat_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tat_ns| {
            let ahead = gcra.take(ahead(tat_ns)).ok()?;
            Some(now_ns.saturating_add(nanoseconds(ahead)))
        });
        taken.map(|_| ()).or_else(|tat_ns| gcra.check(ahead(tat_ns)))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The limiters of all accounts.
pub(crate) struct RateLimiters {
    start: Instant,
    accounts: Mutex<HashMap<Id, Arc<RateLimiter>>>,
}

impl RateLimiters {
    pub(crate) fn new(now: Instant) -> Self {
        Self { start: now, accounts: Mutex::default() }
    }

    pub(crate) fn of(&self, account: &Id) -> Arc<RateLimiter> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= ACCOUNTS_MAX && !accounts.contains_key(account) {
            accounts.retain(|_, limiter| Arc::strong_count(limiter) > 1);
        }
        Arc::clone(accounts.entry(account.clone()).or_insert_with(|| Arc::new(RateLimiter::new(self.start))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seconds_requests_are_allowed_at_once_and_then_evenly_spaced() {
        let start = Instant::now();
        let limiter = RateLimiter::new(start);
        for _ in 0..10 {
            limiter.take(start, 10).unwrap();
        }
        assert_eq!(limiter.take(start, 10), Err(Duration::from_millis(100)));
        let later = start + Duration::from_millis(250);
        assert_eq!([limiter.take(later, 10), limiter.take(later, 10)], [Ok(()), Ok(())]);
        assert_eq!(limiter.take(later, 10), Err(Duration::from_millis(50)));
        let much_later = start + Duration::from_secs(60);
        assert_eq!((0..20).filter(|_| limiter.take(much_later, 10).is_ok()).count(), 10);
    }
}
