//! Checks that this node has the sealing keys of the other nodes. A node with other keys could not open the provider
//! API keys of customers, so that every event it commits would wait; and the other nodes could not open what it sealed.

use kit_runtime::vault::{Sealed, VaultError};

use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Page, StoreError};
use crate::provider_access::provider_key_context;

/// The context that a sentinel is sealed for.
const SENTINEL_CONTEXT: &str = "platform/sentinel";

/// Connections checked in a store that has no sentinel yet.
const LOOKED_AT_MAX: usize = 250;

/// Tries to store sentinels, because other nodes may start at the same time.
const TRIES_MAX: usize = 20;

/// The result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealingKeyCheck {
    /// The keys open the stored values, or nothing is stored yet.
    Fits,
    /// The keys do not open the stored values; the reason.
    Differs(String),
}

impl Platform {
    /// Checks whether the keys open the stored values. Changes nothing.
    pub async fn check_sealing_keys(&self) -> PlatformResult<SealingKeyCheck> {
        let stored = self.store().sentinels().await?;
        Ok(match self.lacking(&stored).await? {
            Ok(_) => SealingKeyCheck::Fits,
            Err(error) => SealingKeyCheck::Differs(error.to_string()),
        })
    }

    /// The check of a process that is going to seal values. If the keys fit, the sentinel of the first key is stored.
    pub async fn record_sealing_key(&self) -> PlatformResult<SealingKeyCheck> {
        for _ in 0..TRIES_MAX {
            let stored = self.store().sentinels().await?;
            let lacking = match self.lacking(&stored).await? {
                Ok(lacking) if lacking.is_empty() => return Ok(SealingKeyCheck::Fits),
                Ok(lacking) => lacking,
                Err(error) => return Ok(SealingKeyCheck::Differs(error.to_string())),
            };
            let all = [stored.clone(), lacking].concat();
            match self.store().replace_sentinels(stored, all).await {
                Ok(()) => return Ok(SealingKeyCheck::Fits),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Sentinels that the store lacks. If it has none, any of the keys may have sealed the stored values.
    async fn lacking(&self, stored: &[Sealed]) -> PlatformResult<Result<Vec<Sealed>, VaultError>> {
        let random = self.random().as_ref();
        if !stored.is_empty() {
            let lacking = self.vault().check_sentinels(random, SENTINEL_CONTEXT, stored);
            return Ok(lacking.map(|lacking| lacking.into_iter().collect()));
        }
        for consumer in self.store().consumers(Page { after: None, limit: LOOKED_AT_MAX }).await? {
            if let Some(sealed) = &consumer.api_key
                && let Err(error) = self.vault().open(&provider_key_context(consumer.customer), sealed)
            {
                return Ok(Err(error));
            }
        }
        Ok(Ok(self.vault().sentinels(random, SENTINEL_CONTEXT)))
    }
}
