//! Checks that the event type of a message is registered, for accounts that do not accept every event type.

use jiff::SignedDuration;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{UnknownEventType, UnknownEventTypes};
use crate::provider::Provider;

/// Listed event types and keys.
const LISTED_MAX: usize = 200;
/// An event type of which no message came for this long is no longer listed.
const LISTED_FOR: SignedDuration = SignedDuration::from_hours(90 * 24);

impl Provider {
    /// Whether the message counts as one of an unknown event type. 400 when the account rejects such messages.
    pub(crate) async fn check_event_type(&self, caller: &Caller, event_type: &str) -> ProviderResult<bool> {
        let handling = caller.settings.unknown_event_types;
        if handling == UnknownEventTypes::Accept || self.schemas_of(caller, event_type).await?.is_registered {
            return Ok(false);
        }
        if handling == UnknownEventTypes::Warn {
            return Ok(true);
        }
        // The cache may not know an event type that was registered at another node.
        if self.store().event_type(&caller.account, event_type).await?.is_some() {
            self.payload_schemas().invalidate(&caller.account, event_type);
            return Ok(false);
        }
        Err(ProviderError::BadRequest {
            code: "unknown_event_type",
            detail: format!(
                "the account has no event type {event_type}, and rejects messages of unknown ones; register it, or set \
                 unknownEventTypes to warn"
            ),
        })
    }

    /// Event types that accepted messages had, but that are not registered, with the keys that sent them; the latest
    /// first, at most 200. The counts of this node are complete, those of other nodes up to some seconds ago. Empty when
    /// the account accepts all event types.
    pub async fn unknown_event_types(&self, caller: &Caller) -> ProviderResult<Vec<UnknownEventType>> {
        if self.account(&caller.account).await?.settings.unknown_event_types == UnknownEventTypes::Accept {
            return Ok(Vec::new());
        }
        self.write_unknown_event_types().await?;
        Ok(self.store().unknown_event_types(&caller.account, LISTED_MAX).await?)
    }

    /// Writes the counts of this node. A worker calls it every few seconds, and when the node stops.
    pub(crate) async fn write_unknown_event_types(&self) -> ProviderResult<()> {
        let counted = self.unknown_types().take();
        if counted.is_empty() {
            return Ok(());
        }
        let written = self.store().record_unknown_event_types(counted.clone(), self.now() - LISTED_FOR).await;
        written.map_err(|error| {
            self.unknown_types().put_back(counted);
            error.into()
        })
    }
}
