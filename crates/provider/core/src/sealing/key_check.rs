//! Checks that this node has the sealing keys of the other nodes. A node with other keys could not decrypt signing
//! secrets, and every attempt on it would fail.

use kit_runtime::vault::Sealed;

use crate::error::{ProviderError, ProviderResult};
use crate::port::{Order, Page, StoreError};
use crate::provider::Provider;
use crate::signing::secret::EndpointSecret;

const SENTINEL_CONTEXT: &str = "provider/sentinel";

/// Number of accounts, and of applications of each account, that are searched for an endpoint if the store has no
/// sentinel. The newest come first, because the newest key sealed them.
const SEARCHED_MAX: usize = 20;

/// Number of attempts to write sentinels, because other nodes may start at the same time.
const TRIES_MAX: usize = 20;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealingKeyCheck {
    /// The keys open the stored values, or the store has none.
    Fits,
    /// The keys do not open the stored values. The text explains it for people.
    Differs(String),
}

impl Provider {
    /// Tries to open stored values. Changes nothing.
    pub async fn check_sealing_keys(&self) -> ProviderResult<SealingKeyCheck> {
        let stored = self.store().sentinels().await?;
        Ok(self.missing_sentinels(&stored).await?.map_or_else(SealingKeyCheck::Differs, |_| SealingKeyCheck::Fits))
    }

    /// Checks the keys of a process that will seal values, before it begins to work. If the keys fit, records in the
    /// store that values may be sealed with the first key.
    pub async fn record_sealing_key(&self) -> ProviderResult<SealingKeyCheck> {
        for _ in 0..TRIES_MAX {
            let stored = self.store().sentinels().await?;
            let missing = match self.missing_sentinels(&stored).await? {
                Ok(missing) if missing.is_empty() => return Ok(SealingKeyCheck::Fits),
                Ok(missing) => missing,
                Err(reason) => return Ok(SealingKeyCheck::Differs(reason)),
            };
            let all = [stored.clone(), missing].concat();
            match self.store().replace_sentinels(stored, all).await {
                Ok(()) => return Ok(SealingKeyCheck::Fits),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ProviderError::from(StoreError::Conflict))
    }

    /// The sentinels that are missing in the store, or the reason why its secrets can't be opened. If the store has no
    /// sentinel, any of the keys may have sealed its secrets.
    async fn missing_sentinels(&self, stored: &[Sealed]) -> ProviderResult<Result<Vec<Sealed>, String>> {
        if !stored.is_empty() {
            let missing = self.vault().check_sentinels(self.random(), SENTINEL_CONTEXT, stored);
            return Ok(missing.map(|missing| missing.into_iter().collect()).map_err(|error| error.to_string()));
        }
        let sentinels = || self.vault().sentinels(self.random(), SENTINEL_CONTEXT);
        let newest = |limit| Page { from: None, order: Order::Descending, limit };
        for account in self.store().accounts(newest(SEARCHED_MAX)).await? {
            for application in self.store().applications(&account.id, newest(SEARCHED_MAX)).await? {
                if let Some(endpoint) = self.store().endpoints(&application.id, newest(1)).await?.first() {
                    let opened = EndpointSecret::unseal(self.vault(), &endpoint.id, &endpoint.secret);
                    return Ok(opened.map(|_| sentinels()).map_err(|error| error.to_string()));
                }
            }
        }
        Ok(Ok(sentinels()))
    }
}
