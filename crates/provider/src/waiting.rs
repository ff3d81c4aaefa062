//! What waits, where, since when, and why: for whoever manages the installation.

use jiff::Timestamp;

use crate::error::{ProviderError, ProviderResult};
use crate::model::{Account, Application, AttemptStatus, Endpoint, Id};
use crate::port::{Backlog, Order, Page, Waiting};
use crate::provider::Provider;

/// Rows of an endpoint that are counted at most.
const COUNT_MAX: usize = 100_000;
/// Endpoints asked for in one call of the store.
const ENDPOINTS_AT_ONCE: usize = 100;

/// An endpoint with messages that are not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
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
    /// Why they wait.
    pub why: Why,
}

/// Why messages wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The endpoint is disabled; they are dropped when they come up.
    Disabled,
    /// Every attempt has failed since then.
    Failing {
        /// Since when.
        since: Timestamp,
        /// HTTP status code of the last attempt; 0 when there was no answer.
        code: Option<u16>,
        /// What went wrong at the last attempt, when there was no answer.
        error: Option<String>,
    },
    /// They are due and no node has taken them: none runs, or the endpoint has more than it may take at a time.
    Due,
    /// A node has all of them in hand.
    InHand,
    /// They are to be tried again at the next due time, though the endpoint works otherwise.
    Later,
}

impl Why {
    /// Stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Failing { .. } => "failing",
            Self::Due => "due",
            Self::InHand => "in_hand",
            Self::Later => "later",
        }
    }
}

impl Provider {
    /// Endpoints with messages accepted before `before` that are not delivered yet, at most `limit`, those that wait longest
    /// first.
    pub async fn list_stuck(&self, before: Timestamp, limit: usize) -> ProviderResult<Vec<Stuck>> {
        let (mut found, mut after): (Vec<Waiting>, Option<Id>) = (Vec::new(), None);
        loop {
            let rows = self.store().endpoints_waiting(after.as_deref(), ENDPOINTS_AT_ONCE, COUNT_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.endpoint.id.clone());
            found.extend(rows.into_iter().filter(|row| row.oldest_at.is_none_or(|oldest_at| oldest_at <= before)));
            found.sort_by(|one, other| (one.oldest_at, &one.endpoint.id).cmp(&(other.oldest_at, &other.endpoint.id)));
            found.truncate(limit);
        }
        let mut stuck = Vec::with_capacity(found.len());
        for Waiting { account, endpoint, deliveries, oldest_at, next_at } in found {
            let why = self.why(&endpoint, next_at).await?;
            stuck.push(Stuck { account, endpoint, deliveries, oldest_at, next_at, why });
        }
        Ok(stuck)
    }

    /// An endpoint by its id alone, with its account. 404.
    pub async fn endpoint_anywhere(&self, id: &str) -> ProviderResult<(Account, Endpoint)> {
        let (account, endpoint) = self.store().endpoint_anywhere(id).await?.ok_or(ProviderError::NotFound)?;
        Ok((self.account(&account).await?, endpoint))
    }

    /// What waits for an endpoint.
    pub async fn endpoint_backlog(&self, endpoint: &Endpoint) -> ProviderResult<Backlog> {
        Ok(self.store().backlog(&endpoint.id).await?)
    }

    /// An application by its id alone, with its account. 404.
    pub async fn application_anywhere(&self, id: &str) -> ProviderResult<(Account, Application)> {
        let (application, _) = self.store().snapshot(id).await?.ok_or(ProviderError::NotFound)?;
        Ok((self.account(&application.account).await?, application))
    }

    async fn why(&self, endpoint: &Endpoint, next_at: Option<Timestamp>) -> ProviderResult<Why> {
        if endpoint.disabled {
            return Ok(Why::Disabled);
        }
        if let Some(since) = endpoint.failing_since {
            let page = Page { from: None, order: Order::Descending, limit: 1 };
            let last = self.store().attempts_at_endpoint(&endpoint.application, &endpoint.id, page).await?;
            let last = last.into_iter().next().filter(|attempt| attempt.status != AttemptStatus::Success);
            let code = last.as_ref().map(|attempt| attempt.response_status_code);
            // With an answer, `response` is the receiver's own text, which is nobody else's business.
            let error = last.filter(|attempt| attempt.response_status_code == 0).map(|attempt| attempt.response);
            return Ok(Why::Failing { since, code, error });
        }
        Ok(match next_at {
            None => Why::InHand,
            Some(at) if at <= self.now() => Why::Due,
            Some(_) => Why::Later,
        })
    }
}
