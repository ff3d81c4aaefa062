//! Endpoints with waiting deliveries, with the age and the reason, for the operator.

use jiff::Timestamp;

use crate::endpoints::delivery_holds::DeliveryHold;
use crate::error::ProviderResult;
use crate::model::cause::Cause;
use crate::model::{AttemptStatus, Endpoint, Id};
use crate::ordering::BLOCKED_MAX;
use crate::port::WaitingCounts;
use crate::port::{Backlog, EndpointBacklog, Order, Page, RESEND_DUE};
use crate::provider::Provider;

/// Number of endpoints that one store call reads.
const ENDPOINTS_BATCH_MAX: usize = 100;

/// An endpoint with messages that are not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckEndpoint {
    /// The account that it belongs to.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Number of waiting messages.
    pub deliveries: usize,
    /// When the oldest of them was accepted.
    pub oldest_at: Option<Timestamp>,
    /// When the next of them is due; none when nodes have claimed all of them.
    pub next_at: Option<Timestamp>,
    /// Numbers of waiting messages by reason.
    pub waiting_for: WaitingCounts,
    /// Number of blocked ordering keys, counted to 250.
    pub blocked_keys: usize,
    /// The main reason.
    pub why: StuckReason,
}

/// Why messages wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StuckReason {
    /// The deliveries are held back.
    Held(DeliveryHold),
    /// Every attempt has failed since this time.
    Failing {
        /// Beginning of the failures.
        since: Timestamp,
        /// HTTP status code of the last attempt; 0 without a response.
        code: Option<u16>,
        /// Cause of the last attempt's failure. Its [sentence](Cause::sentence_without_response) without the receiver's
        /// response is for the operator, who must not see what receivers answer.
        cause: Option<Cause>,
    },
    /// The messages are due, but no node has claimed them: no node runs, or the endpoint's lane has no room.
    Due,
    /// The messages wait for a retry, although other messages to the endpoint succeed.
    Retry,
    /// The messages wait for the delivery time that their sender set.
    Later,
    /// A node has claimed the messages.
    Claimed,
}

impl StuckReason {
    /// Stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Held(hold) => hold.name(),
            Self::Failing { .. } => "failing",
            Self::Due => "due",
            Self::Retry => "retry",
            Self::Later => "later",
            Self::Claimed => "in_hand",
        }
    }
}

impl Provider {
    /// Endpoints with undelivered messages that were accepted before `before`, at most `limit`, the longest waiting
    /// first.
    pub async fn list_stuck_endpoints(&self, before: Timestamp, limit: usize) -> ProviderResult<Vec<StuckEndpoint>> {
        let (mut found, mut after): (Vec<EndpointBacklog>, Option<Id>) = (Vec::new(), None);
        loop {
            let rows = self.store().endpoint_backlogs(after.as_deref(), ENDPOINTS_BATCH_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.endpoint.id.clone());
            found.extend(rows.into_iter().filter(|row| row.oldest_at.is_none_or(|oldest_at| oldest_at <= before)));
            found
                .sort_by(|left, right| (left.oldest_at, &left.endpoint.id).cmp(&(right.oldest_at, &right.endpoint.id)));
            found.truncate(limit);
        }
        let mut stuck = Vec::with_capacity(found.len());
        for waiting in found {
            stuck.push(self.stuck(waiting).await?);
        }
        Ok(stuck)
    }

    /// The waiting deliveries of one endpoint, and the reason; none without waiting deliveries.
    pub async fn stuck_endpoint(&self, endpoint: &Endpoint) -> ProviderResult<Option<StuckEndpoint>> {
        let just_before = endpoint.id.get(..endpoint.id.len() - 1);
        let rows = self.store().endpoint_backlogs(just_before, ENDPOINTS_BATCH_MAX).await?;
        match rows.into_iter().find(|row| row.endpoint.id == endpoint.id) {
            Some(waiting) => Ok(Some(self.stuck(waiting).await?)),
            None => Ok(None),
        }
    }

    async fn stuck(&self, waiting: EndpointBacklog) -> ProviderResult<StuckEndpoint> {
        let EndpointBacklog { account, endpoint, deliveries, oldest_at, next_at } = waiting;
        let now = self.now();
        let waiting_for = self.store().waiting_counts(&endpoint.id, now).await?;
        let blocked_keys = match waiting_for.key {
            0 => 0,
            _ => self.store().blocked_keys(&endpoint.id, None, BLOCKED_MAX).await?.len(),
        };
        let why = self.stuck_reason(&endpoint, waiting_for).await?;
        // The due time of a resend is an artificial early time.
        let next_at = next_at.map(|at| if at == RESEND_DUE { now } else { at });
        Ok(StuckEndpoint { account, endpoint, deliveries, oldest_at, next_at, waiting_for, blocked_keys, why })
    }

    /// The backlog of an endpoint.
    pub async fn endpoint_backlog(&self, endpoint: &Endpoint) -> ProviderResult<Backlog> {
        Ok(self.store().backlog(&endpoint.id).await?)
    }

    async fn stuck_reason(&self, endpoint: &Endpoint, waiting_for: WaitingCounts) -> ProviderResult<StuckReason> {
        let hold = self.delivery_hold(endpoint, waiting_for).await?;
        if let Some(hold @ (DeliveryHold::Disabled | DeliveryHold::Paused { .. })) = hold {
            return Ok(StuckReason::Held(hold));
        }
        if let Some(since) = endpoint.failing_since {
            let page = Page { from: None, order: Order::Descending, limit: 1 };
            let last = self.store().attempts_at_endpoint(&endpoint.application, &endpoint.id, page).await?;
            let last = last.into_iter().next().filter(|attempt| attempt.status != AttemptStatus::Success);
            let code = last.as_ref().map(|attempt| attempt.response_status_code);
            return Ok(StuckReason::Failing { since, code, cause: last.as_ref().map(Cause::of) });
        }
        if let Some(hold) = hold {
            return Ok(StuckReason::Held(hold));
        }
        Ok(match waiting_for {
            WaitingCounts { due: 1.., .. } => StuckReason::Due,
            WaitingCounts { retry: 1.., .. } => StuckReason::Retry,
            WaitingCounts { later: 1.., .. } => StuckReason::Later,
            _ => StuckReason::Claimed,
        })
    }
}
