//! Seals every value that an older key sealed again with the first key, in small steps beside other work.
//!
//! Each value is replaced only if it is unchanged since it was read: a change meanwhile has sealed it with the first
//! key. When no value of an older key remains, the sentinels of the older keys are deleted, and a node may start
//! without them.

use kit_runtime::vault::{ResealReport, Sealed};
use uuid::Uuid;

use crate::Platform;
use crate::access::sealed_answer_context;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Page, SealedLocation, SealedReplacement, StoreError};
use crate::provider_access::provider_key_context;
use crate::users::AUDIENCE;

/// Values read and replaced at a time.
const BATCH_MAX: usize = 200;

/// Passes over all values. A value that changed during a pass is found by the next one.
const ROUNDS_MAX: usize = 10;

/// What to do with values that an older key sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    Count,
    Reseal,
}

impl Platform {
    /// Counts the sealed values by key. Changes nothing.
    pub async fn sealings(&self) -> PlatformResult<ResealReport> {
        Ok(self.walk_sealed_values(Stale::Count, &mut |_| ()).await?.0)
    }

    /// Seals every value again that is not sealed with the first key. `progress` receives the number of resealed values
    /// after each batch. A repeated call does nothing; after an interruption, it continues.
    ///
    /// A value that can't be opened stays unchanged and is reported; then the sentinels stay unchanged, too. Errors:
    /// `busy` (another node keeps sealing with another key, because this key is not its first).
    pub async fn reseal(&self, progress: &mut (dyn FnMut(u64) + Send)) -> PlatformResult<ResealReport> {
        let mut resealed = 0;
        for _ in 0..ROUNDS_MAX {
            let (found, count) =
                self.walk_sealed_values(Stale::Reseal, &mut |more: u64| progress(resealed + more)).await?;
            resealed += count;
            if found.stale == 0 {
                if found.unopened == 0 {
                    self.forget_sentinels().await?;
                }
                return Ok(ResealReport { stale: resealed, ..found });
            }
        }
        Err(PlatformError::Busy)
    }

    /// Reads all sealed values. Returns what was found, and the number of replaced values.
    async fn walk_sealed_values(
        &self,
        stale: Stale,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> PlatformResult<(ResealReport, u64)> {
        let (mut found, mut count) = (ResealReport::default(), 0);
        let mut after = None;
        loop {
            let consumers = self.store().consumers(Page { after, limit: BATCH_MAX }).await?;
            let Some(last) = consumers.last() else { break };
            after = Some(last.customer);
            let sealed = consumers.iter().filter_map(|consumer| Some((consumer.customer, consumer.api_key.as_ref()?)));
            let texts: Vec<SealedReplacement> =
                sealed.filter_map(|(customer, key)| self.renewed_key(&mut found, customer, key)).collect();
            count += self.replace(stale, texts).await?;
            progress(count);
        }
        let mut after = None;
        loop {
            let answers = self.store().sealed_answers(Page { after, limit: BATCH_MAX }).await?;
            let Some(last) = answers.last() else { break };
            after = Some((last.caller, last.key.clone()));
            let mut texts = Vec::new();
            for answer in answers {
                let renewed = self.renew(&sealed_answer_context(answer.caller, &answer.key), &answer.body);
                if let Some(new) = found.record("a stored answer of an idempotency key", renewed) {
                    let location = SealedLocation::Answer { caller: answer.caller, key: answer.key };
                    texts.push(SealedReplacement { location, old: answer.body, new });
                }
            }
            count += self.replace(stale, texts).await?;
            progress(count);
        }
        let mut after = None;
        loop {
            let users = self.store().users(Page { after, limit: BATCH_MAX }).await?;
            let Some(last) = users.last() else { break };
            after = Some(last.id);
            let mut texts = Vec::new();
            for (user, totp) in users.iter().filter_map(|user| Some((user.id, user.totp.as_ref()?))) {
                let renewed = self.renew(&AUDIENCE.totp_context(&user), &totp.secret);
                if let Some(new) = found.record(&format!("the second factor of user {user}"), renewed) {
                    texts.push(SealedReplacement {
                        location: SealedLocation::Totp(user),
                        old: totp.secret.clone(),
                        new,
                    });
                }
            }
            count += self.replace(stale, texts).await?;
            progress(count);
        }
        Ok((found, count))
    }

    fn renewed_key(&self, found: &mut ResealReport, customer: Uuid, key: &Sealed) -> Option<SealedReplacement> {
        let what = format!("the provider API key of customer {customer}");
        let new = found.record(&what, self.renew(&provider_key_context(customer), key))?;
        Some(SealedReplacement { location: SealedLocation::Connection(customer), old: key.clone(), new })
    }

    /// The value sealed with the first key; none when it is already.
    fn renew(&self, context: &str, sealed: &Sealed) -> Result<Option<Sealed>, kit_runtime::vault::VaultError> {
        self.vault().reseal(self.random().as_ref(), context, sealed)
    }

    async fn replace(&self, stale: Stale, texts: Vec<SealedReplacement>) -> PlatformResult<u64> {
        if stale == Stale::Count || texts.is_empty() {
            return Ok(0);
        }
        Ok(self.store().reseal(texts).await? as u64)
    }

    /// Deletes all sentinels but that of the first key.
    async fn forget_sentinels(&self) -> PlatformResult<()> {
        let stored = self.store().sentinels().await?;
        let own: Vec<Sealed> = stored.iter().filter(|text| !self.vault().is_stale(text)).cloned().collect();
        if own.is_empty() || own.len() == stored.len() {
            return Ok(());
        }
        match self.store().replace_sentinels(stored, own).await {
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            done => Ok(done?),
        }
    }
}
