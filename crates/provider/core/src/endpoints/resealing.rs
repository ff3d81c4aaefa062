//! Sealing again with the first key what another sealed, in small pieces beside whatever else goes on: signing secrets, those
//! that still sign for a while, values of headers, and secrets of second factors.
//!
//! A value is replaced only if it is still the one that was read: a caller that changed it meanwhile has resealed it.
//! Resealing causes no operational event, since no plaintext changes. When no value of another key remains, the other
//! keys' sentinels are deleted: from then on a node may start without those keys.

use kit_runtime::vault::{ResealReport, Sealed};

use crate::endpoints::sealing;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Endpoint, Id};
use crate::people::totp_context;
use crate::port::StoreError;
use crate::provider::Provider;
use crate::signing::secret::vault_context;

/// Endpoints looked at, and changed, at a time.
const BATCH_MAX: usize = 100;

/// Times that everything is gone through: what was changed at the same time as it was looked at is found the next time.
const ROUNDS_MAX: usize = 10;

/// What to do with texts that another key sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StaleAction {
    Count,
    Reseal,
}

impl Provider {
    /// How much is sealed with which keys. Changes nothing.
    pub async fn sealings(&self) -> ProviderResult<ResealReport> {
        let mut found = self.scan_endpoints(StaleAction::Count, &mut |_| ()).await?;
        self.scan_second_factors(StaleAction::Count, &mut found).await?;
        Ok(found)
    }

    /// Reseals with the first key each value that another key sealed. After each batch it calls `progress` with the number of
    /// values resealed so far. It is idempotent, and a call after an interruption continues the work.
    ///
    /// A value that no key opens stays unchanged and is counted in the report; the old sentinels then stay, too. Error: the
    /// store's `Stale` when a node that has another key first keeps sealing with it.
    pub async fn reseal(&self, progress: &mut (dyn FnMut(u64) + Send)) -> ProviderResult<ResealReport> {
        let mut resealed = 0;
        for _ in 0..ROUNDS_MAX {
            let mut found =
                self.scan_endpoints(StaleAction::Reseal, &mut |more: u64| progress(resealed + more)).await?;
            self.scan_second_factors(StaleAction::Reseal, &mut found).await?;
            // A value that a caller changed meanwhile is sealed with the first key all the same.
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
            let with_renewed = endpoints.into_iter().map(|endpoint| (self.renewed(&mut found, &endpoint), endpoint));
            let changed: Vec<(Endpoint, Endpoint)> =
                with_renewed.filter(|(new, old)| new != old).map(|(new, old)| (old, new)).collect();
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
            let renew = |(person, old): (Id, Sealed)| {
                let renewed = self.vault().reseal(self.random(), &totp_context(&person), &old);
                let new = found.record(&format!("the second factor of {person}"), renewed)?;
                Some((person, old, new))
            };
            let changed: Vec<(Id, Sealed, Sealed)> = secrets.into_iter().filter_map(renew).collect();
            if stale == StaleAction::Reseal && !changed.is_empty() {
                self.store().reseal_second_factors(changed).await?;
            }
        }
    }

    /// The endpoint with everything sealed with the first key, as far as it can be opened.
    fn renewed(&self, found: &mut ResealReport, endpoint: &Endpoint) -> Endpoint {
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

    /// Leaves the first key's sentinel alone.
    async fn delete_stale_sentinels(&self) -> ProviderResult<()> {
        let stored = self.store().sentinels().await?;
        let own: Vec<Sealed> = stored.iter().filter(|text| !self.vault().is_stale(text)).cloned().collect();
        if own.is_empty() || own.len() == stored.len() {
            return Ok(());
        }
        Ok(self.store().replace_sentinels(stored, own).await?)
    }
}
