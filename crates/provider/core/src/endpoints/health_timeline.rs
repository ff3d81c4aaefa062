//! Health of endpoints over time: exact counts in equal steps up to now, and waiting deliveries.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::counts::{CountSpan, DeliveryCounts, Hour};
use crate::model::{Endpoint, Id};
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

fn ids<'a>(endpoints: impl IntoIterator<Item = &'a Endpoint>) -> Vec<Id> {
    endpoints.into_iter().map(|endpoint| endpoint.id.clone()).collect()
}

impl Provider {
    /// The health of each of these endpoints, in their order. The caller has checked that it may read them.
    pub async fn endpoint_health(
        &self,
        endpoints: &[Endpoint],
        span: CountSpan,
    ) -> ProviderResult<Vec<EndpointHealth>> {
        let (now, ids) = (self.now(), ids(endpoints));
        let mut counts: HashMap<Id, Vec<(Hour, DeliveryCounts)>> = HashMap::new();
        for (endpoint, hour, counted) in self.store().endpoint_counts(&ids, span.hours(now)).await? {
            counts.entry(endpoint).or_default().push((hour, counted));
        }
        let waiting = self.store().waiting_of_endpoints(&ids).await?;
        let health =
            |(id, waiting)| EndpointHealth { steps: span.sum(now, counts.remove(&id).unwrap_or_default()), waiting };
        Ok(ids.into_iter().zip(waiting).map(health).collect())
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
        let own = endpoints.iter().filter(|endpoint| endpoint.application == application.id);
        Ok(self.store().waiting_of_endpoints(&ids(own)).await?)
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
