//! Usage of an account: messages and attempts by hour and by day.
//!
//! Counting takes longer than a page may take, so a background task counts and a page shows the latest result. A node
//! counts an account at most once in [`MAX_AGE`], and only when a page requests it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::caller::Caller;
use crate::endpoints::health_timeline::HealthSpan;
use crate::error::ProviderResult;
use crate::ids;
use crate::model::Id;
pub use crate::node_state::usage_counts::{AccountUsage, UsageStep};
use crate::page::LIMIT_MAX;
use crate::port::{Cursor, Order, Page};
use crate::provider::Provider;

/// The hours of the last day.
const HOURS: HealthSpan = HealthSpan { step: SignedDuration::from_hours(1), steps: 24 };
/// The days of the last month, which begin at midnight UTC.
const DAYS: HealthSpan = HealthSpan { step: SignedDuration::from_hours(24), steps: 30 };
/// Time that a page waits for the first count.
const WAIT_MAX: SignedDuration = SignedDuration::from_millis(8);
/// Maximum number of counted applications, oldest first.
const APPLICATIONS_MAX: usize = 2_000;
/// Maximum number of counted rows of one endpoint or application in one step.
const STEP_ROWS_MAX: usize = 1_000_000;
/// Number of an application's latest messages that the total size of its payloads is estimated from.
const BYTES_ROWS_MAX: usize = 1_000;
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
