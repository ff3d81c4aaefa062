//! Retrying the head of an ordering key at once.

use super::{OrderingKey, under_way};
use crate::activity::Action;
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::port::HeadResult;
use crate::provider::Provider;

impl Provider {
    /// Makes the head of an ordering key due now, and ends the endpoint's pause. Unlike a resend, the attempt keeps its place
    /// in the retry schedule: if it fails, the head waits for the next one, and the key keeps its order. The activity log
    /// gets an entry.
    ///
    /// Errors: 404 when `message` is not the key's head, 409 while a node has claimed it, 400 (`endpoint_disabled`).
    pub async fn retry_blocked_key(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        key: &OrderingKey,
        message: &str,
    ) -> ProviderResult<()> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        if endpoint.disabled {
            let detail = "the endpoint is disabled and receives nothing; enable it first".into();
            return Err(ProviderError::BadRequest { code: "endpoint_disabled", detail });
        }
        match self.store().retry_head(&endpoint.id, message, key.as_str(), self.now()).await? {
            HeadResult::Done => {}
            HeadResult::UnderWay => return Err(under_way()),
            HeadResult::NotHead => return Err(ProviderError::NotFound),
        }
        self.end_pause(&endpoint).await?;
        self.dispatcher().wake_lane(&endpoint.application, &endpoint.id);
        self.record_blocked_message(caller, Action::MessageRetried, &endpoint, (message, key)).await;
        Ok(())
    }
}
