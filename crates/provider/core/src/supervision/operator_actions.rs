//! What those who run the provider do about work that is stuck, and how they name what it is stuck at.

use crate::error::ProviderResult;
use crate::ids;
use crate::model::{Account, Application, Attempt, AttemptStatus, AttemptTrigger, Endpoint, Id};
use crate::provider::Provider;

/// Upper bound on the applications or endpoints of one uid in a result.
const NAMED_MAX: usize = 20;
/// Rows that one transaction changes at most, so that deliveries go on in between.
const ROWS_AT_ONCE: usize = 500;
/// Rounds of such transactions: as many rows as an endpoint can have.
const ROUNDS_MAX: usize = 1_000_000;
/// Passes over what waits: a row that was asked for by hand meanwhile is there again in the next.
const PASSES_MAX: usize = 3;
/// Text of the attempt that ends a delivery.
const CANCELLED_RESPONSE: &str = "given up by hand";

impl Provider {
    /// Applications of this id, or of this uid in `account` or in any, each with its account; at most 20.
    pub async fn find_applications(
        &self,
        account: Option<&str>,
        id_or_uid: &str,
    ) -> ProviderResult<Vec<(Account, Application)>> {
        let mut found = match self.store().snapshot(id_or_uid).await? {
            Some((application, _)) => vec![application],
            None => self.store().applications_by_uid(id_or_uid, NAMED_MAX).await?,
        };
        found.retain(|application| account.is_none_or(|account| *account == *application.account));
        let mut named = Vec::with_capacity(found.len());
        for application in found {
            named.push((self.account(&application.account).await?, application));
        }
        Ok(named)
    }

    /// Endpoints of this id, or of this uid in the application `application` (by id) or in any, each with its account; at
    /// most 20.
    pub async fn find_endpoints(
        &self,
        application: Option<&str>,
        id_or_uid: &str,
    ) -> ProviderResult<Vec<(Account, Endpoint)>> {
        let mut found = match self.store().endpoint_by_id(id_or_uid).await? {
            Some(endpoint) => vec![endpoint],
            None => self.store().endpoints_by_uid(id_or_uid, NAMED_MAX).await?,
        };
        found.retain(|(_, endpoint)| application.is_none_or(|application| *application == *endpoint.application));
        let mut named = Vec::with_capacity(found.len());
        for (account, endpoint) in found {
            named.push((self.account(&account).await?, endpoint));
        }
        Ok(named)
    }

    /// Sends what waits for its next attempt at an endpoint now, also if its receiver asked for a pause; how many messages
    /// that are. The attempts that they have had still count. 404.
    pub async fn retry_now(&self, endpoint: &Endpoint) -> ProviderResult<usize> {
        let now = self.now();
        self.store().reset_endpoint_pause(&endpoint.id, now).await?;
        self.snapshots().invalidate(&endpoint.application);
        self.dispatcher().changed(&endpoint.application).await;
        let mut retried = 0;
        for _ in 0..ROUNDS_MAX {
            let rows = self.store().make_retries_due(&endpoint.id, now, ROWS_AT_ONCE).await?;
            retried += rows;
            if rows == 0 {
                break;
            }
        }
        self.dispatcher().wake_lane(&endpoint.application, &endpoint.id);
        tracing::info!(endpoint = %endpoint.id, messages = retried, "an operator made waiting deliveries due now");
        Ok(retried)
    }

    /// Gives up on what waits for an endpoint until now, recording for each message that it was; how many messages that
    /// were. What is under way goes on, and is not tried again. What is given up can be sent again: one message by a resend,
    /// all that was tried by a task.
    pub async fn cancel_waiting_deliveries(&self, endpoint: &Endpoint) -> ProviderResult<usize> {
        let newest: Id = ids::lowest_id_at(ids::MESSAGE, self.now() + ids::RESOLUTION).into();
        let mut given_up = 0;
        for _ in 0..PASSES_MAX {
            let (mut before, mut ended) = (newest.clone(), 0);
            for _ in 0..ROUNDS_MAX {
                // The newest first, so that of a key the one that all wait for goes last.
                let messages = self.store().waiting_messages(&endpoint.id, &before, ROWS_AT_ONCE).await?;
                let Some(last) = messages.last() else { break };
                before = last.clone();
                let attempts = messages.into_iter().map(|message| self.cancelled_attempt(endpoint, message)).collect();
                ended += self.store().cancel_deliveries(&endpoint.id, attempts).await?;
            }
            given_up += ended;
            if ended == 0 {
                break;
            }
        }
        tracing::info!(endpoint = %endpoint.id, messages = given_up, "an operator cancelled waiting deliveries");
        Ok(given_up)
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
            response_header: None,
            response_duration_ms: 0,
            trigger: AttemptTrigger::Manual,
            at: self.now(),
        }
    }
}
