//! The account's overview for the dashboard: figures of applications, subscribers of an event type, progress of the
//! set-up, and usage.

pub(crate) mod account_usage;

use std::collections::HashMap;

use jiff::Timestamp;

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::counts::{CountSpan, DeliveryCounts};
use crate::model::{Application, Endpoint, Id};
use crate::page::{ListPage, PageRequest};
use crate::port::{AccountFigures, AlertScope, ApplicationFigures, CountScope, Order};
use crate::provider::Provider;

/// Maximum length of a search text in bytes; the rest is ignored.
const SEARCH_BYTES_MAX: usize = 256;

/// An application as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationOverview {
    /// What it has now.
    pub figures: ApplicationFigures,
    /// Attempts and ended deliveries of the last 24 hours ([`CountSpan::DAY`]).
    pub day: DeliveryCounts,
}

/// Progress of the set-up of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetupProgress {
    /// The account has an API key.
    pub has_api_key: bool,
    /// The account has an event type.
    pub has_event_type: bool,
    /// The account has an application.
    pub has_application: bool,
    /// One of its applications has an endpoint.
    pub has_endpoint: bool,
    /// A receiver responded 2xx.
    pub has_delivery: bool,
}

impl Provider {
    /// These applications of the caller's account as lists show them, in their order.
    pub async fn application_overviews(
        &self,
        caller: &Caller,
        applications: &[Application],
    ) -> ProviderResult<Vec<ApplicationOverview>> {
        let own = applications.iter().filter(|application| application.account == caller.account);
        let own: Vec<Id> = own.map(|application| application.id.clone()).collect();
        let mut overviews = Vec::with_capacity(own.len());
        for figures in self.store().application_figures(&own).await? {
            let of = CountScope::Application(figures.application.clone());
            let steps = self.counts_by_step(&of, CountSpan::DAY, self.now()).await?;
            overviews.push(ApplicationOverview { figures, day: steps.into_iter().sum() });
        }
        Ok(overviews)
    }

    /// What the caller's account has now.
    pub async fn account_figures(&self, caller: &Caller) -> ProviderResult<AccountFigures> {
        Ok(self.store().account_figures(&caller.account).await?)
    }

    /// The account's applications with this text in their name, uid or id, in any case, oldest first.
    pub async fn search_applications(
        &self,
        caller: &Caller,
        text: &str,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<Application>> {
        let text = &text[..text.floor_char_boundary(SEARCH_BYTES_MAX)];
        let rows = self.store().search_applications(&caller.account, text, page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |application| &application.id))
    }

    /// Failing enabled endpoints of the account with their applications, the longest failing first.
    pub async fn failing_endpoints(
        &self,
        caller: &Caller,
        limit: usize,
    ) -> ProviderResult<Vec<(Application, Endpoint)>> {
        let endpoints = self.store().failing_endpoints(&caller.account, limit).await?;
        self.with_applications(caller, endpoints).await
    }

    /// Endpoints of the account that fail, or were disabled because of their failures, with their applications. Those that
    /// began to fail last are first.
    pub async fn endpoints_in_need(
        &self,
        caller: &Caller,
        limit: usize,
    ) -> ProviderResult<Vec<(Application, Endpoint, Timestamp)>> {
        let scope = AlertScope { account: caller.account.clone(), application: None };
        let failing = self.store().failing_in(&scope, Order::Descending, limit).await?;
        let since: HashMap<Id, Timestamp> = failing.iter().map(|row| (row.endpoint.id.clone(), row.since)).collect();
        let endpoints = failing.into_iter().map(|row| row.endpoint).collect();
        let rows = self.with_applications(caller, endpoints).await?.into_iter();
        Ok(rows
            .filter_map(|(application, endpoint)| {
                let since = *since.get(&endpoint.id)?;
                Some((application, endpoint, since))
            })
            .collect())
    }

    /// Endpoints that subscribe to this event type by name, with their applications, ordered by id. Endpoints that
    /// receive all event types are not included.
    pub async fn subscribed_endpoints(
        &self,
        caller: &Caller,
        event_type: &str,
        limit: usize,
    ) -> ProviderResult<Vec<(Application, Endpoint)>> {
        let endpoints = self.store().subscribed_endpoints(&caller.account, event_type, limit).await?;
        self.with_applications(caller, endpoints).await
    }

    /// Progress of the set-up of the caller's account.
    pub async fn setup_progress(&self, caller: &Caller) -> ProviderResult<SetupProgress> {
        let (store, account) = (self.store(), &*caller.account);
        let first = PageRequest::first(1).to_store(Order::Ascending);
        let AccountFigures { applications, endpoints, has_delivery, .. } = store.account_figures(account).await?;
        Ok(SetupProgress {
            has_api_key: !store.api_keys(account, first.clone()).await?.is_empty(),
            has_event_type: !store.event_types(account, first).await?.is_empty(),
            has_application: applications > 0,
            has_endpoint: endpoints > 0,
            has_delivery,
        })
    }

    /// Each endpoint with its application. Endpoints of an application that was deleted meanwhile are omitted.
    async fn with_applications(
        &self,
        caller: &Caller,
        endpoints: Vec<Endpoint>,
    ) -> ProviderResult<Vec<(Application, Endpoint)>> {
        let mut applications: HashMap<Id, Option<Application>> = HashMap::new();
        let mut found = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            if !applications.contains_key(&endpoint.application) {
                let read = self.store().application(&caller.account, &endpoint.application).await?;
                applications.insert(endpoint.application.clone(), read);
            }
            if let Some(Some(application)) = applications.get(&endpoint.application) {
                found.push((application.clone(), endpoint));
            }
        }
        Ok(found)
    }
}

impl SetupProgress {
    /// Whether the set-up is complete: a message was delivered.
    pub fn is_done(&self) -> bool {
        self.has_delivery
    }
}
