//! The headers that an endpoint adds to every delivery.

use std::collections::BTreeMap;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::headers::custom_headers;
use crate::headers::sealing;
use crate::model::Endpoint;
use crate::provider::Provider;

impl Provider {
    /// The headers. A surface redacts the [sensitive](crate::headers::custom_headers::is_sensitive) ones. 404.
    pub async fn endpoint_headers(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
    ) -> ProviderResult<BTreeMap<String, String>> {
        self.open_headers(&self.endpoint(caller, application, id_or_uid).await?)
    }

    /// Replaces all headers, from the next delivery on. 404, 422.
    pub async fn put_endpoint_headers(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        headers: &BTreeMap<String, String>,
    ) -> ProviderResult<()> {
        let changed = self.change_endpoint(caller, application, id_or_uid, |endpoint| {
            let headers = custom_headers::check(headers).map_err(ProviderError::Validation)?;
            endpoint.headers = self.seal_headers(&endpoint.id, &headers);
            Ok(())
        });
        changed.await.map(drop)
    }

    /// Sets headers, and removes those without a value, from the next delivery on. 404, 422.
    pub async fn patch_endpoint_headers(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        changes: &BTreeMap<String, Option<String>>,
    ) -> ProviderResult<()> {
        let changed = self.change_endpoint(caller, application, id_or_uid, |endpoint| {
            let current = self.open_headers(endpoint)?;
            let headers = custom_headers::patch(&current, changes).map_err(ProviderError::Validation)?;
            endpoint.headers = self.seal_headers(&endpoint.id, &headers);
            Ok(())
        });
        changed.await.map(drop)
    }

    pub(super) fn seal_headers(&self, endpoint: &str, headers: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        sealing::seal(self.vault(), self.random(), endpoint, headers)
    }

    fn open_headers(&self, endpoint: &Endpoint) -> ProviderResult<BTreeMap<String, String>> {
        sealing::open(self.vault(), &endpoint.id, &endpoint.headers)
            .map_err(|error| ProviderError::Internal(format!("the headers of {}: {error}", endpoint.id)))
    }
}
