//! Ending the pause that a receiver asked for.

use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::provider::Provider;

impl Provider {
    /// Ends the time in which the dispatcher does not call the endpoint, if there is one.
    pub(crate) async fn end_pause(&self, endpoint: &Endpoint) -> ProviderResult<()> {
        self.store().reset_endpoint_pause(&endpoint.id, self.now()).await?;
        self.snapshots().invalidate(&endpoint.application);
        self.dispatcher().changed(&endpoint.application).await;
        Ok(())
    }
}
