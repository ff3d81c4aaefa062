//! Replacing an endpoint, or creating it.

use subtle::ConstantTimeEq as _;

use super::{EndpointInput, ValidatedEndpoint, with_limit};
use crate::activity::Change;
use crate::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::model::Endpoint;
use crate::port::StoreError;
use crate::provider::Provider;
use crate::signing::secret::EndpointSecret;
use crate::steps::written::{PUT_TRIES_MAX, Put};

impl Provider {
    /// Replaces the endpoint with this id or uid, and keeps its secret. If none exists, creates an endpoint, for which
    /// the id in the path is not used. If several callers create it at the same time, the first creates it and the
    /// others replace it.
    ///
    /// 404 (application), 409 (uid), 422 (also for a secret that differs from the existing one), 400 `limit_reached`.
    pub async fn put_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        input: EndpointInput,
    ) -> ProviderResult<Put<Endpoint>> {
        let kept = self.kept_filter_types(caller, application, id_or_uid).await?;
        let validated = self.check_endpoint(caller, input, &kept).await?;
        for try_no in 1.. {
            let change = |endpoint: &mut Endpoint| self.replace(endpoint, validated.clone());
            match self.change_endpoint(caller, application, id_or_uid, change).await {
                Err(ProviderError::NotFound) => {}
                changed => return Ok(Put::Updated(changed?)),
            }
            let endpoint = self.new_endpoint(caller, application, validated.clone()).await?;
            let endpoints_max = self.endpoints_max(caller);
            let created = self.store().create_endpoint(endpoint.clone(), endpoints_max, None).await;
            self.snapshots().invalidate(&endpoint.application);
            let may_exist = try_no < PUT_TRIES_MAX && endpoint.uid.as_deref() == Some(id_or_uid);
            match created {
                Ok(()) => {
                    self.record_endpoint(caller, Change::created(&endpoint)).await;
                    return Ok(Put::Created(endpoint));
                }
                // Another caller created it meanwhile, perhaps as the last within the limit, so this call updates it.
                Err(StoreError::Taken(_) | StoreError::LimitReached) if may_exist => {}
                Err(error) => return Err(with_limit(error.into(), endpoints_max)),
            }
        }
        Err(StoreError::Conflict.into())
    }

    fn replace(&self, endpoint: &mut Endpoint, mut validated: ValidatedEndpoint) -> ProviderResult<()> {
        if let Some(secret) = &validated.secret {
            self.check_secret(endpoint, secret)?;
        }
        validated.headers = validated.headers.map(|headers| self.seal_headers(&endpoint.id, &headers));
        endpoint.replace_with(validated);
        Ok(())
    }

    /// Rejects a secret that differs from the stored one: if it were ignored, the receiver would verify with the wrong
    /// secret.
    fn check_secret(&self, endpoint: &Endpoint, given: &EndpointSecret) -> ProviderResult<()> {
        let own = self.unseal(endpoint, &endpoint.secret)?;
        if own.reveal().as_bytes().ct_eq(given.reveal().as_bytes()).into() {
            return Ok(());
        }
        let msg = "is not the one that the endpoint has: POST …/secret/rotate changes it, with the new one as key";
        Err(ProviderError::invalid("secret", msg))
    }

    /// The event types of an existing endpoint, for a caller who may not see all of them.
    async fn kept_filter_types(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
    ) -> ProviderResult<Vec<String>> {
        if caller.scope == Scope::Account {
            return Ok(Vec::new());
        }
        match self.endpoint(caller, application, id_or_uid).await {
            Ok(endpoint) => Ok(endpoint.filter_types.unwrap_or_default()),
            Err(ProviderError::NotFound) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}
