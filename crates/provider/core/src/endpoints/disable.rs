//! Disabling and enabling an endpoint by a caller. The dispatcher disables endpoints in
//! `dispatcher/disable_endpoint.rs`.

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::provider::Provider;

/// Whether an endpoint receives messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// The endpoint receives messages.
    On,
    /// The endpoint receives no messages, and its waiting deliveries are deleted, as by [`Provider::put_endpoint`].
    Off,
}

impl Provider {
    /// Enables or disables an endpoint, unless it is in that state already. When an endpoint is enabled, its earlier
    /// failures no longer count. 404.
    pub async fn switch_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        switch: Switch,
    ) -> ProviderResult<Endpoint> {
        let disabled = switch == Switch::Off;
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        if endpoint.disabled == disabled {
            return Ok(endpoint);
        }
        self.change_endpoint(caller, application, id_or_uid, |endpoint| {
            endpoint.disabled = disabled;
            if !disabled {
                endpoint.failing_since = None;
            }
            Ok(())
        })
        .await
    }
}
