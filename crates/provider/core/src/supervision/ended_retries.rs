//! Failing endpoints with messages whose retries have ended, for the operator.

use jiff::Timestamp;

use crate::error::ProviderResult;
use crate::ids;
use crate::model::cause::Cause;
use crate::model::{AttemptStatus, Endpoint, Id};
use crate::port::{Cursor, Order, Page};
use crate::provider::Provider;

/// Maximum number of failing endpoints of each account.
const ENDPOINTS_MAX: usize = 1_000;
/// Number of accounts that one store call reads.
const ACCOUNTS_BATCH_MAX: usize = 100;

/// A failing endpoint with messages that are not attempted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRetries {
    /// The account that it belongs to.
    pub account: Id,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Since when every attempt fails.
    pub since: Timestamp,
    /// Messages whose attempts failed since then and whose retries have ended.
    pub messages: u64,
    /// Cause of the latest failed attempt.
    pub cause: Option<Cause>,
}

impl Provider {
    /// The endpoints of all accounts that fail, are enabled, and have messages whose retries have ended.
    pub async fn list_ended_retries(&self) -> ProviderResult<Vec<EndedRetries>> {
        let (mut ended, mut from) = (Vec::new(), None);
        loop {
            let page = Page { from: from.take(), order: Order::Ascending, limit: ACCOUNTS_BATCH_MAX };
            let accounts = self.store().accounts(page).await?;
            let Some(last) = accounts.last() else { return Ok(ended) };
            from = Some(Cursor::After(last.id.to_string()));
            for account in &accounts {
                for endpoint in self.store().failing_endpoints(&account.id, ENDPOINTS_MAX).await? {
                    ended.extend(self.ended_retries(account.id.clone(), endpoint).await?);
                }
            }
        }
    }

    async fn ended_retries(&self, account: Id, endpoint: Endpoint) -> ProviderResult<Option<EndedRetries>> {
        let Some(since) = endpoint.failing_since else { return Ok(None) };
        let first = ids::lowest_id_at(ids::ATTEMPT, since);
        let messages = self.store().ended_failures(&endpoint.id, &first).await?;
        if messages == 0 {
            return Ok(None);
        }
        let page = Page { from: None, order: Order::Descending, limit: 1 };
        let last = self.store().attempts_at_endpoint(&endpoint.application, &endpoint.id, page).await?;
        let cause = last.iter().find(|attempt| attempt.status == AttemptStatus::Fail).map(Cause::of);
        Ok(Some(EndedRetries { account, endpoint, since, messages, cause }))
    }
}
