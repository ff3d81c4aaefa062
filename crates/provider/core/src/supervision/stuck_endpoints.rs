//! Endpoints with waiting deliveries, since when they wait, and why. Shown to the operator.

use jiff::Timestamp;

use crate::error::ProviderResult;
use crate::model::{AttemptStatus, Endpoint, Id};
use crate::ordering::BLOCKED_MAX;
use crate::port::WaitingCounts;
use crate::port::{Backlog, EndpointBacklog, Order, Page, RESEND_DUE};
use crate::provider::Provider;

/// Rows of an endpoint that are counted at most.
const COUNT_MAX: usize = 100_000;
/// Endpoints asked for in one call of the store.
const ENDPOINTS_AT_ONCE: usize = 100;

/// An endpoint with messages that are not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckEndpoint {
    /// The account that it belongs to.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Messages that wait; when there are 100,000 or more, that number.
    pub deliveries: usize,
    /// When the oldest of them was accepted.
    pub oldest_at: Option<Timestamp>,
    /// When the next of them is due; none when a node has all of them in hand.
    pub next_at: Option<Timestamp>,
    /// How many of them wait for what.
    pub waiting_for: WaitingCounts,
    /// Ordering keys that wait for their first message; when there are 250 or more, that number.
    pub blocked_keys: usize,
    /// What is the matter, in one word.
    pub why: StuckReason,
}

/// Why messages wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StuckReason {
    /// The endpoint is disabled; they are dropped when they come up.
    Disabled,
    /// Its receiver asked to be left alone until then.
    Paused {
        /// Until when.
        until: Timestamp,
    },
    /// Every attempt has failed since then.
    Failing {
        /// Since when.
        since: Timestamp,
        /// HTTP status code of the last attempt; 0 when there was no answer.
        code: Option<u16>,
        /// What went wrong at the last attempt, when there was no answer.
        error: Option<String>,
    },
    /// They are due, and go out at the rate that the endpoint or its application allows.
    Throttled {
        /// Messages a second.
        rate: u16,
    },
    /// They are due and no node has taken them: none runs, or the endpoint has more than it may take at a time.
    Due,
    /// They are to be tried again at the next due time, though the endpoint works otherwise.
    Retry,
    /// Their sender wants them delivered at the next due time.
    Later,
    /// A node has them in hand.
    Claimed,
}

impl StuckReason {
    /// Stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Paused { .. } => "paused",
            Self::Failing { .. } => "failing",
            Self::Throttled { .. } => "throttled",
            Self::Due => "due",
            Self::Retry => "retry",
            Self::Later => "later",
            Self::Claimed => "in_hand",
        }
    }
}

impl Provider {
    /// Endpoints with messages accepted before `before` that are not delivered yet, at most `limit`, those that wait longest
    /// first.
    pub async fn list_stuck_endpoints(&self, before: Timestamp, limit: usize) -> ProviderResult<Vec<StuckEndpoint>> {
        let (mut found, mut after): (Vec<EndpointBacklog>, Option<Id>) = (Vec::new(), None);
        loop {
            let rows = self.store().endpoint_backlogs(after.as_deref(), ENDPOINTS_AT_ONCE, COUNT_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.endpoint.id.clone());
            found.extend(rows.into_iter().filter(|row| row.oldest_at.is_none_or(|oldest_at| oldest_at <= before)));
            found.sort_by(|one, other| (one.oldest_at, &one.endpoint.id).cmp(&(other.oldest_at, &other.endpoint.id)));
            found.truncate(limit);
        }
        let mut stuck = Vec::with_capacity(found.len());
        for waiting in found {
            stuck.push(self.stuck(waiting).await?);
        }
        Ok(stuck)
    }

    /// What waits for one endpoint, and why; none when nothing does.
    pub async fn stuck_endpoint(&self, endpoint: &Endpoint) -> ProviderResult<Option<StuckEndpoint>> {
        let just_before = endpoint.id.get(..endpoint.id.len() - 1);
        let rows = self.store().endpoint_backlogs(just_before, ENDPOINTS_AT_ONCE, COUNT_MAX).await?;
        match rows.into_iter().find(|row| row.endpoint.id == endpoint.id) {
            Some(waiting) => Ok(Some(self.stuck(waiting).await?)),
            None => Ok(None),
        }
    }

    async fn stuck(&self, waiting: EndpointBacklog) -> ProviderResult<StuckEndpoint> {
        let EndpointBacklog { account, endpoint, deliveries, oldest_at, next_at } = waiting;
        let now = self.now();
        let waiting_for = self.store().waiting_counts(&endpoint.id, now, COUNT_MAX).await?;
        let blocked_keys = match waiting_for.key {
            0 => 0,
            _ => self.store().blocked_keys(&endpoint.id, None, BLOCKED_MAX).await?.len(),
        };
        let why = self.stuck_reason(&endpoint, waiting_for).await?;
        // What was asked for by hand is due before all else, which is no time to show.
        let next_at = next_at.map(|at| if at == RESEND_DUE { now } else { at });
        Ok(StuckEndpoint { account, endpoint, deliveries, oldest_at, next_at, waiting_for, blocked_keys, why })
    }

    /// What waits for an endpoint.
    pub async fn endpoint_backlog(&self, endpoint: &Endpoint) -> ProviderResult<Backlog> {
        Ok(self.store().backlog(&endpoint.id).await?)
    }

    async fn stuck_reason(&self, endpoint: &Endpoint, waiting_for: WaitingCounts) -> ProviderResult<StuckReason> {
        if endpoint.disabled {
            return Ok(StuckReason::Disabled);
        }
        if let Some(until) = self.store().paused_until(&endpoint.id, self.now()).await? {
            return Ok(StuckReason::Paused { until });
        }
        if let Some(since) = endpoint.failing_since {
            let page = Page { from: None, order: Order::Descending, limit: 1 };
            let last = self.store().attempts_at_endpoint(&endpoint.application, &endpoint.id, page).await?;
            let last = last.into_iter().next().filter(|attempt| attempt.status != AttemptStatus::Success);
            let code = last.as_ref().map(|attempt| attempt.response_status_code);
            // If the receiver responded, `response` is the receiver's own text, which the operator must not see.
            let error = last.filter(|attempt| attempt.response_status_code == 0).map(|attempt| attempt.response);
            return Ok(StuckReason::Failing { since, code, error });
        }
        Ok(match waiting_for {
            WaitingCounts { due: 1.., .. } => match self.rate(endpoint).await? {
                Some(rate) => StuckReason::Throttled { rate },
                None => StuckReason::Due,
            },
            WaitingCounts { retry: 1.., .. } => StuckReason::Retry,
            WaitingCounts { later: 1.., .. } => StuckReason::Later,
            _ => StuckReason::Claimed,
        })
    }

    /// Messages a second that the endpoint receives at most, by its own limit or its application's.
    pub(crate) async fn rate(&self, endpoint: &Endpoint) -> ProviderResult<Option<u16>> {
        let application =
            self.store().snapshot(&endpoint.application).await?.and_then(|(found, _)| found.throttle_rate);
        Ok([endpoint.throttle_rate, application].into_iter().flatten().min())
    }
}
