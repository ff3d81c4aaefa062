//! The headers that an endpoint asks for with every delivery.

use std::collections::BTreeMap;

use crate::accounts::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::headers;
use crate::provider::Provider;

impl Provider {
    /// The headers. What is [`headers::is_sensitive`] is for a surface to redact. 404.
    pub async fn endpoint_headers(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
    ) -> ProviderResult<BTreeMap<String, String>> {
        Ok(self.endpoint(caller, application, id_or_uid).await?.headers)
    }

    /// Replaces all headers; the next delivery has them. 404, 422.
    pub async fn put_endpoint_headers(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        headers: &BTreeMap<String, String>,
    ) -> ProviderResult<()> {
        let mut endpoint = self.endpoint(caller, application, id_or_uid).await?;
        endpoint.headers = headers::check(headers).map_err(ProviderError::Validation)?;
        self.update_endpoint(&mut endpoint).await
    }
}
