//! Skipping the head of an ordering key, so that the next message of the key is delivered.

use super::OrderingKey;
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::port::{DroppedDelivery, SkipResult};
use crate::provider::Provider;

impl Provider {
    /// Gives up the head of an ordering key; the next message of the key becomes due.
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
        let head = DroppedDelivery {
            application: endpoint.application.clone(),
            endpoint: endpoint.id.clone(),
            message: message.into(),
        };
        match self.store().skip_head(head, key.as_str(), self.now()).await? {
            SkipResult::Skipped => {
                tracing::info!(endpoint = %endpoint.id, message, key = key.as_str(), "a caller skipped a blocked message");
                self.dispatcher().wake_lane(&endpoint.application, &endpoint.id);
                Ok(())
            }
            SkipResult::UnderWay => Err(ProviderError::Conflict {
                code: "under_way",
                detail: "an attempt to deliver the message is under way; repeat the request when it has ended".into(),
            }),
            SkipResult::NotHead => Err(ProviderError::NotFound),
        }
    }
}
