//! The account's overview for the dashboard: figures of applications, subscribers of an event type, progress of the
//! set-up, and usage.
//!
//! The cost of a page is bounded. A background task counts the usage ([`account_usage`]), because that takes longer.

pub(crate) mod account_usage;

use std::collections::HashMap;

use jiff::SignedDuration;

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::ids;
use crate::model::{Application, Endpoint, Id};
use crate::page::{ListPage, PageRequest};
use crate::port::{AccountProgress, ApplicationFigures, Order};
use crate::provider::Provider;

/// Latest attempts of each endpoint that a failure rate is computed from.
pub const RATE_ATTEMPTS_MAX: usize = 500;
/// Time span of a failure rate.
const RATE_SPAN: SignedDuration = SignedDuration::from_hours(24);
/// Number of latest attempts of each endpoint that are searched for a successful one.
const PROGRESS_ATTEMPTS_MAX: usize = 100;
/// Maximum length of a search text in bytes; the rest is ignored.
const SEARCH_BYTES_MAX: usize = 256;

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
    /// Figures of these applications of the caller's account, in their order. Failure rates cover the last 24 hours,
    /// and at most the latest [`RATE_ATTEMPTS_MAX`] attempts of each endpoint.
    pub async fn application_figures(
        &self,
        caller: &Caller,
        applications: &[Application],
    ) -> ProviderResult<Vec<ApplicationFigures>> {
        let own = applications.iter().filter(|application| application.account == caller.account);
        let own: Vec<Id> = own.map(|application| application.id.clone()).collect();
        let after = ids::lowest_id_at(ids::ATTEMPT, self.now() - RATE_SPAN);
        Ok(self.store().application_figures(&own, &after, RATE_ATTEMPTS_MAX).await?)
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
        let AccountProgress { has_endpoint, has_delivery } =
            store.account_progress(account, PROGRESS_ATTEMPTS_MAX).await?;
        Ok(SetupProgress {
            has_api_key: !store.api_keys(account, first.clone()).await?.is_empty(),
            has_event_type: !store.event_types(account, first.clone()).await?.is_empty(),
            has_application: !store.applications(account, first).await?.is_empty(),
            has_endpoint,
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
