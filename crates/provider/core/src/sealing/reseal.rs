//! Key rotation: seals values again with the first key, in small batches during normal operation. The values are
//! signing secrets, rotated secrets in their grace period, header values, and secrets of second factors.
//!
//! A value is replaced only if it did not change since it was read: a caller that changed it sealed it with the first
//! key. Resealing causes no operational event, because no plaintext changes. When no value of another key remains, the
//! sentinels of the other keys are deleted. After that, a node may start without those keys.

use kit_runtime::vault::{ResealReport, Sealed};

use crate::error::{ProviderError, ProviderResult};
use crate::headers::sealing;
use crate::model::{Endpoint, Id};
use crate::port::StoreError;
use crate::provider::Provider;
use crate::signing::secret::vault_context;
use crate::steps::identity::AUDIENCE;

/// Endpoints, or second factors, in one batch.
const BATCH_MAX: usize = 100;

/// Maximum number of rounds over all values. A value that was changed during one round is found in the next.
const ROUNDS_MAX: usize = 10;

/// What to do with values that another key sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StaleAction {
    Count,
    Reseal,
}

impl Provider {
    /// Counts the values by the key that sealed them. Changes nothing.
    pub async fn sealings(&self) -> ProviderResult<ResealReport> {
        let mut found = self.scan_endpoints(StaleAction::Count, &mut |_| ()).await?;
        self.scan_second_factors(StaleAction::Count, &mut found).await?;
        Ok(found)
    }

    /// Reseals with the first key each value that another key sealed. After each batch it calls `progress` with the
    /// number of values resealed so far. It is idempotent, and a call after an interruption continues the work.
    ///
    /// A value that no key opens stays unchanged and is counted in the report; the old sentinels then stay too. 503
    /// when another node continues to seal values with another key.
    pub async fn reseal(&self, progress: &mut (dyn FnMut(u64) + Send)) -> ProviderResult<ResealReport> {
        let mut resealed = 0;
        for _ in 0..ROUNDS_MAX {
            let mut found =
                self.scan_endpoints(StaleAction::Reseal, &mut |more: u64| progress(resealed + more)).await?;
            self.scan_second_factors(StaleAction::Reseal, &mut found).await?;
            // Values that a caller changed meanwhile count as resealed: the caller sealed them with the first key.
            resealed += found.stale;
            if found.stale == 0 {
                if found.unopened == 0 {
                    self.delete_stale_sentinels().await?;
                }
                return Ok(ResealReport { stale: resealed, ..found });
            }
        }
        Err(ProviderError::from(StoreError::Conflict))
    }

    async fn scan_endpoints(
        &self,
        stale: StaleAction,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> ProviderResult<ResealReport> {
        let mut found = ResealReport::default();
        let mut after = None;
        loop {
            let endpoints = self.store().all_endpoints(after, BATCH_MAX).await?;
            let Some(last) = endpoints.last() else { return Ok(found) };
            after = Some(last.id.clone());
            let with_resealed = endpoints.into_iter().map(|endpoint| (self.resealed(&mut found, &endpoint), endpoint));
            let changed: Vec<(Endpoint, Endpoint)> =
                with_resealed.filter(|(new, old)| new != old).map(|(new, old)| (old, new)).collect();
            if stale == StaleAction::Reseal && !changed.is_empty() {
                self.store().reseal_endpoints(changed).await?;
                progress(found.stale);
            }
        }
    }

    async fn scan_second_factors(&self, stale: StaleAction, found: &mut ResealReport) -> ProviderResult<()> {
        let mut after = None;
        loop {
            let secrets = self.store().all_second_factors(after, BATCH_MAX).await?;
            let Some((last, _)) = secrets.last() else { return Ok(()) };
            after = Some(last.clone());
            let renew = |(user, old): (Id, Sealed)| {
                let renewed = self.vault().reseal(self.random(), &AUDIENCE.totp_context(&user), &old);
                let new = found.record(&format!("the second factor of {user}"), renewed)?;
                Some((user, old, new))
            };
            let changed: Vec<(Id, Sealed, Sealed)> = secrets.into_iter().filter_map(renew).collect();
            if stale == StaleAction::Reseal && !changed.is_empty() {
                self.store().reseal_second_factors(changed).await?;
            }
        }
    }

    /// The endpoint with all values resealed that a key opens.
    fn resealed(&self, found: &mut ResealReport, endpoint: &Endpoint) -> Endpoint {
        let mut new = endpoint.clone();
        let mut renew = |what: &str, context: &str, sealed: &Sealed| {
            let renewed = self.vault().reseal(self.random(), context, sealed);
            found.record(&format!("{what} of endpoint {}", endpoint.id), renewed)
        };
        let context = vault_context(&endpoint.id);
        if let Some(renewed) = renew("the signing secret", &context, &endpoint.secret) {
            new.secret = renewed;
        }
        for old in &mut new.old_secrets {
            if let Some(renewed) = renew("a former signing secret", &context, &old.secret) {
                old.secret = renewed;
            }
        }
        for (name, value) in &mut new.headers {
            let sealed = Sealed::from_text(value.as_str());
            if let Some(renewed) = renew("a header", &sealing::context(&endpoint.id, name), &sealed) {
                *value = renewed.into_string();
            }
        }
        new
    }

    /// Deletes the sentinels of all keys but the first.
    async fn delete_stale_sentinels(&self) -> ProviderResult<()> {
        let stored = self.store().sentinels().await?;
        let own: Vec<Sealed> = stored.iter().filter(|text| !self.vault().is_stale(text)).cloned().collect();
        if own.is_empty() || own.len() == stored.len() {
            return Ok(());
        }
        Ok(self.store().replace_sentinels(stored, own).await?)
    }
}
