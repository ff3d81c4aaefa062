//! Whether this node has the keys that the other nodes seal with. One with other keys would fail every delivery that it took,
//! in the name of the receivers.

use kit_runtime::vault::Sealed;

use crate::error::{ProviderError, ProviderResult};
use crate::port::{Order, Page, StoreError};
use crate::provider::Provider;
use crate::signing::secret::EndpointSecret;

/// What a sentinel is bound to.
const SENTINEL_CONTEXT: &str = "provider/sentinel";

/// Accounts, and applications of each, that are looked through for an endpoint in a store that has no sentinel yet. The
/// newest are sealed with the newest key.
const LOOKED_AT_MAX: usize = 20;

/// Sentinels are made once or twice in the life of a store; other nodes may start at the same time.
const TRIES_MAX: usize = 20;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealingKeyCheck {
    /// What is stored can be opened, or there is nothing yet.
    Fits,
    /// It can't; why, for people.
    Differs(String),
}

impl Provider {
    /// Tries to open what is stored. Changes nothing.
    pub async fn check_sealing_keys(&self) -> ProviderResult<SealingKeyCheck> {
        let stored = self.store().sentinels().await?;
        Ok(self.missing_sentinels(&stored).await?.map_or_else(SealingKeyCheck::Differs, |_| SealingKeyCheck::Fits))
    }

    /// The same for a process that is going to seal: if the keys fit, the store knows from then on what may be sealed with
    /// the first of them. Called before a node begins to work.
    pub async fn record_sealing_key(&self) -> ProviderResult<SealingKeyCheck> {
        for _ in 0..TRIES_MAX {
            let stored = self.store().sentinels().await?;
            let lacking = match self.missing_sentinels(&stored).await? {
                Ok(lacking) if lacking.is_empty() => return Ok(SealingKeyCheck::Fits),
                Ok(lacking) => lacking,
                Err(why) => return Ok(SealingKeyCheck::Differs(why)),
            };
            let all = [stored.clone(), lacking].concat();
            match self.store().replace_sentinels(stored, all).await {
                Ok(()) => return Ok(SealingKeyCheck::Fits),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ProviderError::from(StoreError::Conflict))
    }

    /// Sentinels that the store lacks, or why its secrets can't be opened. If the store has no sentinel, any of the keys may
    /// have sealed its secrets.
    async fn missing_sentinels(&self, stored: &[Sealed]) -> ProviderResult<Result<Vec<Sealed>, String>> {
        if !stored.is_empty() {
            let lacking = self.vault().check_sentinels(self.random(), SENTINEL_CONTEXT, stored);
            return Ok(lacking.map(|lacking| lacking.into_iter().collect()).map_err(|error| error.to_string()));
        }
        let sentinels = || self.vault().sentinels(self.random(), SENTINEL_CONTEXT);
        let newest = |limit| Page { from: None, order: Order::Descending, limit };
        for account in self.store().accounts(newest(LOOKED_AT_MAX)).await? {
            for application in self.store().applications(&account.id, newest(LOOKED_AT_MAX)).await? {
                if let Some(endpoint) = self.store().endpoints(&application.id, newest(1)).await?.first() {
                    let opened = EndpointSecret::unseal(self.vault(), &endpoint.id, &endpoint.secret);
                    return Ok(opened.map(|_| sentinels()).map_err(|error| error.to_string()));
                }
            }
        }
        Ok(Ok(sentinels()))
    }
}
