//! Reading and rotating an endpoint's signing secret.

use jiff::{SignedDuration, Timestamp};
use kit_runtime::vault::Sealed;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Endpoint, OldSecret};
use crate::port::{Answer, StoreError};
use crate::provider::Provider;
use crate::signing::secret::{EndpointSecret, vault_context};
use crate::steps::idempotency::Idempotency;
use crate::steps::written::CHANGE_TRIES_MAX;

/// Default grace period in seconds. A rotated secret signs until its end.
const GRACE_SECONDS_DEFAULT: i64 = 86_400;
const GRACE_SECONDS_MAX: i64 = 604_800;
/// Maximum number of rotated secrets in their grace period.
const OLD_SECRETS_MAX: usize = 10;

impl Provider {
    /// The key that the receiver verifies with: the shared secret `whsec_…`, or the public key `whpk_…` of a key pair.
    /// 404.
    pub async fn endpoint_secret(&self, caller: &Caller, application: &str, id_or_uid: &str) -> ProviderResult<String> {
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        Ok(self.unseal(&endpoint, &endpoint.secret)?.verifying_key())
    }

    /// Rotates the endpoint's secret, and returns the key that the receiver verifies with. Without `secret`, a secret
    /// of the current kind is generated. The old secret also signs during the grace period: 0 to 604,800 s, by default
    /// 86,400 s. A repeated request with the same idempotency key returns the first secret. 404, 422, 400
    /// `limit_reached` when ten rotated secrets are in their grace period.
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
            // Looked up first, because a repeated rotation could exceed the limit.
            if let Some(first_secret) = self.replayed_rotation(caller, &old, idempotency).await? {
                return Ok(first_secret);
            }
            let generated = match &given {
                Some(_) => None,
                None => Some(EndpointSecret::make(self.unseal(&old, &old.secret)?.kind(), self.random())),
            };
            let Some(secret) = given.as_ref().or(generated.as_ref()) else { continue };
            let application_id = old.application.clone();
            let (sealed, now) = (self.seal(&old.id, secret), self.now());
            let mut new = old.clone();
            // An existing secret does not sign twice: the current secret stays, and a rotated secret becomes the
            // current one.
            let is_given = |stored: &Sealed| -> ProviderResult<bool> {
                Ok(given.is_some() && self.unseal(&old, stored)?.reveal() == secret.reveal())
            };
            if !is_given(&old.secret)? {
                for rotated in &old.old_secrets {
                    if is_given(&rotated.secret)? {
                        new.old_secrets.retain(|other| other.secret != rotated.secret);
                    }
                }
                new.rotate(sealed.clone(), grace_seconds, now)?;
            }
            // The response that is stored for the idempotency key is sealed like the secret.
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

    /// The response to the first request with this idempotency key.
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
            // The request hash covers the path, so a response of another kind belongs to another request.
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
    /// Replaces the secret. The old secret signs until the end of the grace period. 400 `limit_reached`.
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
