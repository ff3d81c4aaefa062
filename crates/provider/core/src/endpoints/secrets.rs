//! Reading and rotating an endpoint's signing secret.

use jiff::{SignedDuration, Timestamp};
use kit_runtime::vault::Sealed;

use crate::accounts::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::idempotency::Idempotency;
use crate::model::{Endpoint, OldSecret};
use crate::port::{Answer, StoreError};
use crate::provider::{CHANGE_TRIES_MAX, Provider};
use crate::signing::secret::{EndpointSecret, vault_context};

/// Seconds that a rotated secret keeps signing, unless said otherwise.
const GRACE_SECONDS_DEFAULT: i64 = 86_400;
/// Seconds of grace at most.
const GRACE_SECONDS_MAX: i64 = 604_800;
/// Rotated secrets that still sign at most.
const OLD_SECRETS_MAX: usize = 10;

impl Provider {
    /// What the endpoint's receiver verifies with: its shared key `whsec_…`, or the public key `whpk_…` of its key pair.
    /// 404.
    pub async fn endpoint_secret(&self, caller: &Caller, application: &str, id_or_uid: &str) -> ProviderResult<String> {
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        Ok(self.unseal(&endpoint, &endpoint.secret)?.verifying_key())
    }

    /// Gives the endpoint a new secret (of the same kind as before, when none is given) and returns what its receiver
    /// verifies with. The old one keeps signing beside it for the grace: 0 to 604,800 s, 86,400 when none. The same
    /// request again gives the secret that it made the first time. 404, 422, 400 `limit_reached` when ten old ones still
    /// sign.
    pub async fn rotate_endpoint_secret(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        secret: Option<&str>,
        grace_seconds: Option<i64>,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<String> {
        let grace_seconds = grace_seconds.unwrap_or(GRACE_SECONDS_DEFAULT);
        if !(0..=GRACE_SECONDS_MAX).contains(&grace_seconds) {
            let msg = format!("must be 0 to {GRACE_SECONDS_MAX}");
            return Err(ProviderError::invalid("gracePeriodSeconds", msg));
        }
        let given = secret.map(EndpointSecret::parse).transpose();
        let given = given.map_err(|error| ProviderError::invalid("key", error.to_string()))?;
        for _ in 0..CHANGE_TRIES_MAX {
            let old = self.endpoint(caller, application, id_or_uid).await?;
            // Looked for first: the same rotation once more may be one too many.
            if let Some(before) = self.replayed_rotation(caller, &old, idempotency).await? {
                return Ok(before);
            }
            let made = match &given {
                Some(_) => None,
                None => Some(EndpointSecret::make(self.unseal(&old, &old.secret)?.kind(), self.random())),
            };
            let Some(secret) = given.as_ref().or(made.as_ref()) else { continue };
            let application_id = old.application.clone();
            let (sealed, now) = (self.seal(&old.id, secret), self.now());
            let mut new = old.clone();
            // One that is there already signs once: the current one stays, and an old one becomes it.
            let is_it = |kept: &Sealed| -> ProviderResult<bool> {
                Ok(given.is_some() && self.unseal(&old, kept)?.reveal() == secret.reveal())
            };
            if !is_it(&old.secret)? {
                for kept in &old.old_secrets {
                    if is_it(&kept.secret)? {
                        new.old_secrets.retain(|other| other.secret != kept.secret);
                    }
                }
                new.rotate(sealed.clone(), grace_seconds, now)?;
            }
            // What is kept for the key is sealed like the secret itself.
            let answer = Answer::Body { status: 200, body: sealed.as_str().to_owned() };
            let answer = idempotency.map(|idempotency| idempotency.answer(caller, answer, now));
            let replaced = self.store().replace_endpoint(old.clone(), new, answer).await;
            self.snapshots().invalidate(&application_id);
            match replaced {
                Ok(()) => {
                    self.record_rotation(caller, &old).await;
                    return Ok(secret.verifying_key());
                }
                Err(StoreError::Conflict | StoreError::Replayed) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// What this very request was answered with before.
    async fn replayed_rotation(
        &self,
        caller: &Caller,
        endpoint: &Endpoint,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Option<String>> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match idempotency.look_up(self.store(), caller, self.now()).await? {
            Some(Answer::Body { body, .. }) => {
                Ok(Some(self.unseal(endpoint, &Sealed::from_text(body))?.verifying_key()))
            }
            // The hash covers the path, so an answer of another kind is another request's.
            Some(Answer::Message { .. }) => Err(ProviderError::IdempotencyMismatch),
            None => Ok(None),
        }
    }

    pub(super) fn seal(&self, endpoint: &str, secret: &EndpointSecret) -> Sealed {
        self.vault().seal(self.random(), &vault_context(endpoint), secret.reveal().as_bytes())
    }

    pub(super) fn unseal(&self, endpoint: &Endpoint, sealed: &Sealed) -> ProviderResult<EndpointSecret> {
        EndpointSecret::unseal(self.vault(), &endpoint.id, sealed)
            .map_err(|error| ProviderError::Internal(format!("the secret of {}: {error}", endpoint.id)))
    }
}

impl Endpoint {
    /// Takes a new secret; the old one signs on for the grace. 400 `limit_reached`.
    fn rotate(&mut self, secret: Sealed, grace_seconds: i64, now: Timestamp) -> ProviderResult<()> {
        self.updated_at = now;
        self.old_secrets.retain(|old| old.expires_at > now);
        let old = std::mem::replace(&mut self.secret, secret);
        if grace_seconds == 0 {
            return Ok(());
        }
        if self.old_secrets.len() >= OLD_SECRETS_MAX {
            return Err(ProviderError::BadRequest {
                code: "limit_reached",
                detail: format!("{OLD_SECRETS_MAX} rotated secrets are still in use"),
            });
        }
        let expires_at = now + SignedDuration::from_secs(grace_seconds);
        self.old_secrets.push(OldSecret { secret: old, expires_at });
        Ok(())
    }
}
