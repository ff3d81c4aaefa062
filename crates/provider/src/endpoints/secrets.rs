//! Reading and rotating an endpoint's signing secret.

use jiff::SignedDuration;
use runtime::vault::Sealed;

use crate::accounts::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Endpoint, OldSecret};
use crate::provider::Provider;
use crate::secret::{EndpointSecret, vault_context};

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
        Ok(self.unseal(&endpoint)?.verifying_key())
    }

    /// Gives the endpoint a new secret (of the same kind as before, when none is given) and returns what its receiver
    /// verifies with. The old one keeps signing beside it for the grace: 0 to 604,800 s, 86,400 when none. 404, 422,
    /// 400 `limit_reached` when ten old ones still sign.
    pub async fn rotate_endpoint_secret(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        secret: Option<&str>,
        grace_seconds: Option<i64>,
    ) -> ProviderResult<String> {
        let grace_seconds = grace_seconds.unwrap_or(GRACE_SECONDS_DEFAULT);
        if !(0..=GRACE_SECONDS_MAX).contains(&grace_seconds) {
            let msg = format!("must be 0 to {GRACE_SECONDS_MAX}");
            return Err(ProviderError::invalid("gracePeriodSeconds", msg));
        }
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        let secret = match secret {
            Some(text) => {
                EndpointSecret::parse(text).map_err(|error| ProviderError::invalid("key", error.to_string()))?
            }
            None => EndpointSecret::make(self.unseal(&endpoint)?.kind(), self.random()),
        };
        let sealed = self.seal(&endpoint.id, &secret);
        let now = self.now();
        self.change_endpoint(caller, application, &endpoint.id, |endpoint| {
            endpoint.old_secrets.retain(|old| old.expires_at > now);
            let old = std::mem::replace(&mut endpoint.secret, sealed.clone());
            if grace_seconds == 0 {
                return Ok(());
            }
            if endpoint.old_secrets.len() >= OLD_SECRETS_MAX {
                return Err(ProviderError::BadRequest {
                    code: "limit_reached",
                    detail: format!("{OLD_SECRETS_MAX} rotated secrets are still in use"),
                });
            }
            let expires_at = now + SignedDuration::from_secs(grace_seconds);
            endpoint.old_secrets.push(OldSecret { secret: old, expires_at });
            Ok(())
        })
        .await?;
        Ok(secret.verifying_key())
    }

    pub(super) fn seal(&self, endpoint: &str, secret: &EndpointSecret) -> Sealed {
        self.vault().seal(self.random(), &vault_context(endpoint), secret.reveal().as_bytes())
    }

    fn unseal(&self, endpoint: &Endpoint) -> ProviderResult<EndpointSecret> {
        EndpointSecret::unseal(self.vault(), &endpoint.id, &endpoint.secret)
            .map_err(|error| ProviderError::Internal(format!("the secret of {}: {error}", endpoint.id)))
    }
}
