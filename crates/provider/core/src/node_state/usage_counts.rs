//! The latest usage of each account: counting takes longer than a page may take.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::model::Id;

/// An older count is replaced by a new one.
const MAX_AGE: Duration = Duration::from_secs(15);
/// Maximum number of accounts with counts in memory.
const ACCOUNTS_MAX: usize = 1_000;

/// Usage in one step of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageStep {
    /// When the step begins.
    pub at: Timestamp,
    /// Messages that were accepted.
    pub messages: u64,
    /// Attempts that succeeded.
    pub success: u64,
    /// Attempts that failed.
    pub fail: u64,
    /// Whether there were more rows than were counted.
    pub is_capped: bool,
}

/// Usage of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountUsage {
    /// When it was counted.
    pub at: Timestamp,
    /// The last 24 hours, oldest first. The last one contains the current time.
    pub hours: Vec<UsageStep>,
    /// The last 30 days in UTC, oldest first. The last one contains the current time.
    pub days: Vec<UsageStep>,
    /// Applications that were counted.
    pub applications: usize,
    /// Endpoints that were counted.
    pub endpoints: usize,
    /// Bytes of stored payloads. For an application with many messages, estimated from its latest messages.
    pub stored_bytes: u64,
    /// Whether all applications were counted.
    pub is_whole: bool,
}

/// The latest usage of each account.
#[derive(Default)]
pub(crate) struct UsageCounts(Mutex<HashMap<Id, Entry>>);

#[derive(Default)]
struct Entry {
    counted: Option<(Instant, Arc<AccountUsage>)>,
    is_counting: bool,
}

impl UsageCounts {
    fn entries(&self) -> MutexGuard<'_, HashMap<Id, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn last(&self, account: &Id) -> Option<Arc<AccountUsage>> {
        self.entries().get(account)?.counted.as_ref().map(|(_, usage)| Arc::clone(usage))
    }

    /// Whether the caller must count now. It calls [`UsageCounts::put`] afterwards.
    pub(crate) fn begin(&self, account: &Id, now: Instant) -> bool {
        let mut entries = self.entries();
        if entries.len() >= ACCOUNTS_MAX && !entries.contains_key(account) {
            entries.clear();
        }
        let entry = entries.entry(account.clone()).or_default();
        let is_fresh = entry.counted.as_ref().is_some_and(|(at, _)| now.saturating_duration_since(*at) < MAX_AGE);
        let begins = !is_fresh && !entry.is_counting;
        entry.is_counting |= begins;
        begins
    }

    /// Ends the count that [`UsageCounts::begin`] began; none when counting failed.
    pub(crate) fn put(&self, account: &Id, usage: Option<AccountUsage>, now: Instant) {
        let mut entries = self.entries();
        let entry = entries.entry(account.clone()).or_default();
        entry.is_counting = false;
        if let Some(usage) = usage {
            entry.counted = Some((now, Arc::new(usage)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_counted_by_one_task_and_again_when_the_count_is_old() {
        let (counts, account, now) = (UsageCounts::default(), Id::from("org_1"), Instant::now());
        assert!(counts.begin(&account, now));
        assert!(!counts.begin(&account, now + MAX_AGE), "another task is counting");
        counts.put(&account, None, now);
        assert!(counts.begin(&account, now), "the count failed");
        let usage = AccountUsage {
            at: Timestamp::UNIX_EPOCH,
            hours: Vec::new(),
            days: Vec::new(),
            applications: 0,
            endpoints: 0,
            stored_bytes: 0,
            is_whole: true,
        };
        counts.put(&account, Some(usage.clone()), now);
        assert!(!counts.begin(&account, now + MAX_AGE / 2));
        assert!(counts.begin(&account, now + MAX_AGE));
        assert_eq!(counts.last(&account).as_deref(), Some(&usage), "the last count is shown meanwhile");
    }
}
