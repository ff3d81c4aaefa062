//! Checks the payload of a message against the schemas of its event type, for accounts that enable it. For other
//! accounts the check costs one comparison.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::PayloadCheck;
use crate::payload::Payload;
use crate::payload_schemas::{CacheState, CachedSchemas, Mismatch, PayloadCounts, PayloadFinding};
use crate::provider::Provider;

/// Minimum time between two log lines about one event type.
const LOG_INTERVAL_MS: i64 = 60_000;

impl Provider {
    /// The number of messages of the account that did not match, on this node since it started.
    pub fn payload_counts(&self, caller: &Caller) -> PayloadCounts {
        self.payload_schemas().counts(&caller.account)
    }

    /// Rules of schemas that payloads of the account broke, on this node since it started, the latest first.
    pub fn payload_findings(&self, caller: &Caller) -> Vec<PayloadFinding> {
        self.payload_schemas().findings(&caller.account)
    }

    /// Checks a payload. 422 with the faults when it does not match and the account rejects such messages.
    pub(crate) async fn check_payload(
        &self,
        caller: &Caller,
        event_type: &str,
        payload: &Payload,
    ) -> ProviderResult<()> {
        let check = caller.settings.payload_check;
        if check == PayloadCheck::Off {
            return Ok(());
        }
        let entry = self.schemas_of(caller, event_type).await?;
        let Some(found) = entry.schemas.mismatch(payload) else { return Ok(()) };
        self.payload_schemas().count(&caller.account, check);
        self.payload_schemas().record(&caller.account, event_type, &found, self.now());
        self.log_mismatch(caller, event_type, &entry, &found);
        match check {
            PayloadCheck::Reject => Err(ProviderError::Validation(found.faults)),
            PayloadCheck::Warn | PayloadCheck::Off => Ok(()),
        }
    }

    /// Logs the broken rule of the schema. The payload is not logged: it belongs to the customer.
    fn log_mismatch(&self, caller: &Caller, event_type: &str, entry: &CachedSchemas, found: &Mismatch<'_>) {
        let now_ms = kit_runtime::clock::to_ms(self.now());
        let logged_at_ms = entry.logged_at_ms.load(Ordering::Relaxed);
        if now_ms - logged_at_ms < LOG_INTERVAL_MS {
            return;
        }
        entry.logged_at_ms.store(now_ms, Ordering::Relaxed);
        let (account, version, rule) = (&*caller.account, found.version, &*found.rule);
        tracing::warn!(account, event_type, version, rule, "payloads do not match the schema of their event type");
    }

    pub(super) async fn schemas_of(&self, caller: &Caller, event_type: &str) -> ProviderResult<Arc<CachedSchemas>> {
        let (schemas, now) = (self.payload_schemas(), self.clock().monotonic());
        match schemas.get(&caller.account, event_type, now) {
            CacheState::Fresh(cached) => Ok(cached),
            CacheState::Expired(previous, generation) => {
                let read = self.store().event_type(&caller.account, event_type).await?;
                Ok(schemas.put(&caller.account, event_type, read, previous.as_deref(), generation, now))
            }
        }
    }
}
