//! Usage of an account: messages and attempts by hour and by day.
//!
//! Counting takes longer than a page may take, so a background task counts and a page shows the latest result. A node
//! counts an account at most once in [`MAX_AGE`], and only when a page requests it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::accounts::caller::Caller;
use crate::endpoints::health_timeline::HealthSpan;
use crate::error::ProviderResult;
use crate::ids;
use crate::model::Id;
use crate::page::LIMIT_MAX;
use crate::port::{Cursor, Order, Page};
use crate::provider::Provider;

/// The hours of the last day.
const HOURS: HealthSpan = HealthSpan { step: SignedDuration::from_hours(1), steps: 24 };
/// The days of the last month, which begin at midnight UTC.
const DAYS: HealthSpan = HealthSpan { step: SignedDuration::from_hours(24), steps: 30 };
/// An older count is replaced by a new one.
const MAX_AGE: Duration = Duration::from_secs(15);
/// Time that a page waits for the first count.
const WAIT_MAX: SignedDuration = SignedDuration::from_millis(8);
/// Maximum number of counted applications, oldest first.
const APPLICATIONS_MAX: usize = 2_000;
/// Maximum number of counted rows of one endpoint or application in one step.
const STEP_ROWS_MAX: usize = 1_000_000;
/// Number of an application's latest messages that the total size of its payloads is estimated from.
const BYTES_ROWS_MAX: usize = 1_000;
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

    fn last(&self, account: &Id) -> Option<Arc<AccountUsage>> {
        self.entries().get(account)?.counted.as_ref().map(|(_, usage)| Arc::clone(usage))
    }

    /// Whether the caller must count now. It calls [`UsageCounts::put`] afterwards.
    fn begin(&self, account: &Id, now: Instant) -> bool {
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
    fn put(&self, account: &Id, usage: Option<AccountUsage>, now: Instant) {
        let mut entries = self.entries();
        let entry = entries.entry(account.clone()).or_default();
        entry.is_counting = false;
        if let Some(usage) = usage {
            entry.counted = Some((now, Arc::new(usage)));
        }
    }
}

impl Provider {
    /// The latest usage of the caller's account; none during the first count. Starts a new count when the latest one is
    /// old.
    pub async fn account_usage(&self, caller: &Caller) -> Option<Arc<AccountUsage>> {
        let account = caller.account.clone();
        if self.usage_counts().begin(&account, self.clock().monotonic()) {
            let provider = self.clone();
            let counting = tokio::spawn(async move { provider.count(account).await });
            if self.usage_counts().last(&caller.account).is_none() {
                tokio::select! {
                    _ = counting => {}
                    () = self.clock().sleep_until(self.now() + WAIT_MAX) => {}
                }
            }
        }
        self.usage_counts().last(&caller.account)
    }

    async fn count(self, account: Id) {
        let counted = self.count_usage(&account).await;
        let counted = counted.inspect_err(
            |error| tracing::warn!(%error, account = &*account, "the usage of an account could not be counted"),
        );
        self.usage_counts().put(&account, counted.ok(), self.clock().monotonic());
    }

    async fn count_usage(&self, account: &Id) -> ProviderResult<AccountUsage> {
        let now = self.now();
        let mut counted =
            Counted { hours: Steps::new(HOURS, now), days: Steps::new(DAYS, now), endpoints: 0, bytes: 0 };
        let mut page = Page { from: None, order: Order::Ascending, limit: LIMIT_MAX };
        let (mut applications, mut is_whole) = (0, false);
        while !is_whole && applications < APPLICATIONS_MAX {
            let rows = self.store().applications(account, page.clone()).await?;
            page.from = rows.last().map(|last| Cursor::After(last.id.to_string()));
            is_whole = rows.len() < page.limit;
            applications += rows.len();
            for application in rows {
                counted.add(self, &application.id).await?;
            }
        }
        let Counted { hours, days, endpoints, bytes: stored_bytes } = counted;
        let (hours, days) = (hours.steps, days.steps);
        Ok(AccountUsage { at: now, hours, days, applications, endpoints, stored_bytes, is_whole })
    }
}

struct Counted {
    hours: Steps,
    days: Steps,
    endpoints: usize,
    bytes: u64,
}

/// Steps of time, with the ids of messages and attempts at their bounds.
struct Steps {
    steps: Vec<UsageStep>,
    messages: Vec<Id>,
    attempts: Vec<Id>,
}

impl Steps {
    fn new(span: HealthSpan, now: Timestamp) -> Self {
        let bounds = span.bounds(now);
        let ids = |prefix| bounds.iter().map(|at| ids::lowest_id_at(prefix, *at).into()).collect();
        let step = |at: &Timestamp| UsageStep { at: *at, messages: 0, success: 0, fail: 0, is_capped: false };
        Self {
            messages: ids(ids::MESSAGE),
            attempts: ids(ids::ATTEMPT),
            steps: bounds.iter().take(span.steps).map(step).collect(),
        }
    }
}

impl Counted {
    async fn add(&mut self, provider: &Provider, application: &Id) -> ProviderResult<()> {
        let store = provider.store();
        let endpoints_max = provider.config().endpoints_max.max(LIMIT_MAX);
        let page = Page { from: None, order: Order::Ascending, limit: endpoints_max };
        let endpoints = store.endpoints(application, page).await?;
        self.endpoints += endpoints.len();
        let latest = store.payload_bytes(application, BYTES_ROWS_MAX).await?;
        let all = if latest.messages < BYTES_ROWS_MAX as u64 {
            latest.messages
        } else {
            let bounds = [ids::MESSAGE.into(), format!("{}~", ids::MESSAGE).into()];
            store.message_tallies(application, &bounds, STEP_ROWS_MAX).await?.iter().sum()
        };
        self.bytes += latest.bytes.saturating_mul(all).checked_div(latest.messages).unwrap_or(0);
        for span in [&mut self.hours, &mut self.days] {
            let messages = store.message_tallies(application, &span.messages, STEP_ROWS_MAX).await?;
            for (step, count) in span.steps.iter_mut().zip(messages) {
                step.messages += count;
                step.is_capped |= count >= STEP_ROWS_MAX as u64;
            }
            for endpoint in &endpoints {
                let tallies = store.attempt_tallies(&endpoint.id, &span.attempts, STEP_ROWS_MAX).await?;
                for (step, tally) in span.steps.iter_mut().zip(tallies) {
                    step.success += tally.success;
                    step.fail += tally.fail;
                    step.is_capped |= tally.is_capped;
                }
            }
        }
        Ok(())
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
