//! Skipping the head of an ordering key, so that the next message of the key is delivered.

use super::{OrderingKey, under_way};
use crate::activity::Action;
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Attempt, AttemptStatus, AttemptTrigger, Endpoint, Id};
use crate::port::HeadResult;
use crate::provider::Provider;

/// Text of the attempt that ends the delivery.
pub const SKIPPED_RESPONSE: &str = "skipped by hand";

impl Provider {
    /// Gives up the head of an ordering key; the next message of the key becomes due. A cancelled attempt says so, and the
    /// activity log gets an entry.
    ///
    /// Errors: 404 when `message` is not the key's head, 409 while a node has claimed it.
    pub async fn skip_blocked_key(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        key: &OrderingKey,
        message: &str,
    ) -> ProviderResult<()> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let attempt = self.skipped_attempt(&endpoint, message.into());
        match self.store().skip_head(attempt, key.as_str()).await? {
            HeadResult::Done => {
                tracing::info!(endpoint_id = %endpoint.id, message_id = message, key = key.as_str(), "a caller skipped a blocked message");
                self.dispatcher().wake_lane(&endpoint.application, &endpoint.id);
                self.record_blocked_message(caller, Action::MessageSkipped, &endpoint, (message, key)).await;
                Ok(())
            }
            HeadResult::UnderWay => Err(under_way()),
            HeadResult::NotHead => Err(ProviderError::NotFound),
        }
    }

    fn skipped_attempt(&self, endpoint: &Endpoint, message: Id) -> Attempt {
        Attempt {
            id: self.ids().make(ids::ATTEMPT),
            message,
            endpoint: endpoint.id.clone(),
            application: endpoint.application.clone(),
            url: endpoint.url.clone(),
            status: AttemptStatus::Cancelled,
            response_status_code: 0,
            response: SKIPPED_RESPONSE.to_owned(),
            failure_detail: None,
            response_headers: String::new(),
            times: None,
            response_duration_ms: 0,
            trigger: AttemptTrigger::Manual,
            at: self.now(),
        }
    }
}
