//! How often something may be done: a second's worth at once, and then as the time passes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::model::Id;

const SECOND_NS: u64 = 1_000_000_000;
/// Accounts in the map above which entries that no caller holds are removed.
const ACCOUNTS_MAX: usize = 10_000;

/// How often one account has asked lately. Asking costs one atomic exchange.
pub(crate) struct RateLimiter {
    start: Instant,
    /// When all that was taken will have been made up for, in nanoseconds since `start`.
    replenished_at_ns: AtomicU64,
}

impl RateLimiter {
    pub(crate) fn new(now: Instant) -> Self {
        Self { start: now, replenished_at_ns: AtomicU64::new(0) }
    }

    /// Takes one of `per_second`; otherwise how long to wait for it.
    pub(crate) fn take(&self, now: Instant, per_second: u32) -> Result<(), Duration> {
        let now_ns = u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX);
        let step_ns = SECOND_NS / u64::from(per_second.max(1));
        let after = |settled: u64| settled.max(now_ns).saturating_add(step_ns);
        let taken = self.replenished_at_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |settled| {
            let after = after(settled);
            (after - now_ns <= SECOND_NS).then_some(after)
        });
        match taken {
            Ok(_) => Ok(()),
            Err(settled) => Err(Duration::from_nanos(after(settled) - now_ns - SECOND_NS)),
        }
    }
}

/// The rates of all accounts.
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
            accounts.retain(|_, rate| Arc::strong_count(rate) > 1);
        }
        Arc::clone(accounts.entry(account.clone()).or_insert_with(|| Arc::new(RateLimiter::new(self.start))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seconds_worth_may_be_taken_at_once_and_then_as_time_passes() {
        let start = Instant::now();
        let rate = RateLimiter::new(start);
        for _ in 0..10 {
            rate.take(start, 10).unwrap();
        }
        assert_eq!(rate.take(start, 10), Err(Duration::from_millis(100)));
        let later = start + Duration::from_millis(250);
        assert_eq!([rate.take(later, 10), rate.take(later, 10)], [Ok(()), Ok(())]);
        assert_eq!(rate.take(later, 10), Err(Duration::from_millis(50)));
        let much_later = start + Duration::from_secs(60);
        assert_eq!((0..20).filter(|_| rate.take(much_later, 10).is_ok()).count(), 10);
    }
}
