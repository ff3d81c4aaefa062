//! Health of endpoints over time: exact counts in equal steps up to now, and waiting deliveries.

use jiff::Timestamp;

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::model::counts::{CountSpan, DeliveryCounts};
use crate::port::{CountScope, EndpointWaiting};
use crate::provider::Provider;

/// The health of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointHealth {
    /// The counts of each step, oldest first.
    pub steps: Vec<DeliveryCounts>,
    /// The waiting deliveries.
    pub waiting: EndpointWaiting,
}

impl EndpointHealth {
    /// The counts of all steps.
    pub fn total(&self) -> DeliveryCounts {
        self.steps.iter().copied().sum()
    }
}

impl Provider {
    /// The health of each of these endpoints of the application, in their order. 404 (application).
    pub async fn endpoint_health(
        &self,
        caller: &Caller,
        application: &str,
        endpoints: &[Endpoint],
        span: CountSpan,
    ) -> ProviderResult<Vec<EndpointHealth>> {
        let application = self.application(caller, application).await?;
        let now = self.now();
        let mut found = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.application == application.id) {
            found.push(EndpointHealth {
                steps: self.counts_by_step(&CountScope::Endpoint(endpoint.id.clone()), span, now).await?,
                waiting: self.store().endpoint_waiting(&endpoint.id, None).await?,
            });
        }
        Ok(found)
    }

    /// The counts of all endpoints that the application has or had, in each step, oldest first. 404.
    pub async fn application_health(
        &self,
        caller: &Caller,
        application: &str,
        span: CountSpan,
    ) -> ProviderResult<Vec<DeliveryCounts>> {
        let application = self.application(caller, application).await?;
        self.counts_by_step(&CountScope::Application(application.id), span, self.now()).await
    }

    /// The waiting deliveries of each of these endpoints of the application, counted now. 404 (application).
    pub async fn waiting_of(
        &self,
        caller: &Caller,
        application: &str,
        endpoints: &[Endpoint],
    ) -> ProviderResult<Vec<EndpointWaiting>> {
        let application = self.application(caller, application).await?;
        let mut waiting = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.application == application.id) {
            waiting.push(self.store().endpoint_waiting(&endpoint.id, None).await?);
        }
        Ok(waiting)
    }

    /// All endpoints of the application, by id. 404.
    pub async fn all_endpoints(&self, caller: &Caller, application: &str) -> ProviderResult<Vec<Endpoint>> {
        let application = self.application(caller, application).await?;
        let snapshot = self.store().snapshot(&application.id).await?;
        Ok(snapshot.map(|(_, endpoints)| endpoints).unwrap_or_default())
    }

    pub(crate) async fn counts_by_step(
        &self,
        of: &CountScope,
        span: CountSpan,
        now: Timestamp,
    ) -> ProviderResult<Vec<DeliveryCounts>> {
        Ok(span.sum(now, self.store().delivery_counts(of, span.hours(now)).await?))
    }
}
