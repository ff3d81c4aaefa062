//! Actions of the operator on stuck deliveries, and look-ups of applications and endpoints by id or uid.

use crate::activity::Action;
use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::ids;
use crate::model::{Account, Application, Attempt, AttemptStatus, AttemptTrigger, Endpoint, Id};
use crate::provider::Provider;

/// Maximum number of applications or endpoints with one uid in a result.
const FOUND_MAX: usize = 20;
/// Maximum number of rows that one transaction changes, so that deliveries continue between transactions.
const BATCH_MAX: usize = 500;
/// Maximum number of transactions: enough for all rows of an endpoint.
const BATCHES_MAX: usize = 1_000_000;
/// Maximum number of passes over the waiting deliveries. A resend that was requested during one pass is cancelled in
/// the next.
const PASSES_MAX: usize = 3;
/// Text of the attempt that ends a delivery.
const CANCELLED_RESPONSE: &str = "given up by hand";

impl Provider {
    /// Applications with this id, or with this uid in `account` or in any account, each with its account; at most 20.
    pub async fn find_applications(
        &self,
        account: Option<&str>,
        id_or_uid: &str,
    ) -> ProviderResult<Vec<(Account, Application)>> {
        let mut found = match self.store().snapshot(id_or_uid).await? {
            Some((application, _)) => vec![application],
            None => self.store().applications_by_uid(id_or_uid, FOUND_MAX).await?,
        };
        found.retain(|application| account.is_none_or(|account| *account == *application.account));
        let mut with_accounts = Vec::with_capacity(found.len());
        for application in found {
            with_accounts.push((self.account(&application.account).await?, application));
        }
        Ok(with_accounts)
    }

    /// Endpoints with this id, or with this uid in `application` (by id) or in any application, each with its account;
    /// at most 20.
    pub async fn find_endpoints(
        &self,
        application: Option<&str>,
        id_or_uid: &str,
    ) -> ProviderResult<Vec<(Account, Endpoint)>> {
        let mut found = match self.store().endpoint_by_id(id_or_uid).await? {
            Some(endpoint) => vec![endpoint],
            None => self.store().endpoints_by_uid(id_or_uid, FOUND_MAX).await?,
        };
        found.retain(|(_, endpoint)| application.is_none_or(|application| *application == *endpoint.application));
        let mut with_accounts = Vec::with_capacity(found.len());
        for (account, endpoint) in found {
            with_accounts.push((self.account(&account).await?, endpoint));
        }
        Ok(with_accounts)
    }

    /// Makes all waiting retries of an endpoint due now, and ends its pause. Returns the number of messages. Earlier
    /// attempts still count. The activity log gets an entry. 404.
    pub async fn retry_now(&self, caller: &Caller, endpoint: &Endpoint) -> ProviderResult<usize> {
        let now = self.now();
        self.end_pause(endpoint).await?;
        let mut retried = 0;
        for _ in 0..BATCHES_MAX {
            let rows = self.store().make_retries_due(&endpoint.id, now, BATCH_MAX).await?;
            retried += rows;
            if rows == 0 {
                break;
            }
        }
        self.dispatcher().wake_lane(&endpoint.application, &endpoint.id);
        tracing::info!(endpoint_id = %endpoint.id, messages = retried, "an operator made waiting deliveries due now");
        self.record_waiting_deliveries(caller, Action::RetriesMadeDue, endpoint, retried).await;
        Ok(retried)
    }

    /// Cancels the deliveries that wait for an endpoint now, and records a cancelled attempt for each. Returns their
    /// number. Attempts under way continue, without a retry. Cancelled messages can be sent again: one by a resend, all
    /// attempted ones by a background task. The activity log gets an entry.
    pub async fn cancel_waiting_deliveries(&self, caller: &Caller, endpoint: &Endpoint) -> ProviderResult<usize> {
        let newest: Id = ids::lowest_id_at(ids::MESSAGE, self.now() + ids::RESOLUTION).into();
        let mut cancelled = 0;
        for _ in 0..PASSES_MAX {
            let (mut before, mut ended) = (newest.clone(), 0);
            for _ in 0..BATCHES_MAX {
                // Newest first, so that the head of an ordering key is cancelled last.
                let messages = self.store().waiting_messages(&endpoint.id, &before, BATCH_MAX).await?;
                let Some(last) = messages.last() else { break };
                before = last.clone();
                let attempts = messages.into_iter().map(|message| self.cancelled_attempt(endpoint, message)).collect();
                ended += self.store().cancel_deliveries(&endpoint.id, attempts).await?;
            }
            cancelled += ended;
            if ended == 0 {
                break;
            }
        }
        tracing::info!(endpoint_id = %endpoint.id, messages = cancelled, "an operator cancelled waiting deliveries");
        self.record_waiting_deliveries(caller, Action::DeliveriesCancelled, endpoint, cancelled).await;
        Ok(cancelled)
    }

    fn cancelled_attempt(&self, endpoint: &Endpoint, message: Id) -> Attempt {
        Attempt {
            id: self.ids().make(ids::ATTEMPT),
            message,
            endpoint: endpoint.id.clone(),
            application: endpoint.application.clone(),
            url: endpoint.url.clone(),
            status: AttemptStatus::Cancelled,
            response_status_code: 0,
            response: CANCELLED_RESPONSE.to_owned(),
            failure_detail: None,
            response_headers: String::new(),
            times: None,
            response_duration_ms: 0,
            trigger: AttemptTrigger::Manual,
            at: self.now(),
        }
    }
}
