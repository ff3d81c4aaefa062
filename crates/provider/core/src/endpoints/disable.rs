//! Disabling and enabling an endpoint by a caller. The dispatcher disables one in `dispatcher/disable_endpoint.rs`.

use crate::accounts::caller::Caller;
use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::provider::Provider;

/// Whether an endpoint receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// It does.
    On,
    /// It does not: what waits for it is dropped, as by [`Provider::put_endpoint`].
    Off,
}

impl Provider {
    /// Switches an endpoint; one that is so already stays as it is. Failures until now don't count for one that is switched
    /// on. 404.
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
