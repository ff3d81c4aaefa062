//! Customers and their connections to a provider.

use platform_core::consumers::{ConsumerState, CredentialTest};
use platform_core::port::{Backlog, Customer, Failing, Parked, QuarantinedEvent};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// Who runs auctions and receives events.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Customer)]
pub(crate) struct CustomerView {
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

impl From<&Customer> for CustomerView {
    fn from(customer: &Customer) -> Self {
        Self { uuid: customer.uuid, name: customer.name.clone(), created_at: time(customer.created_at) }
    }
}

/// A customer's connection to its consumer application at a provider.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Consumer)]
pub(crate) struct ConsumerView {
    pub(crate) customer: Uuid,
    /// Base address of the provider's API.
    pub(crate) provider_url: String,
    /// Consumer application identifier (`app_…`).
    pub(crate) application_id: Option<String>,
    /// True when an API key is there; the key itself is never shown.
    pub(crate) api_key_set: bool,
    /// True with both the application identifier and the key: without both nothing is published.
    pub(crate) connected: bool,
    /// Why the queue waits for support; null while it flows.
    pub(crate) parked: Option<ParkedView>,
    pub(crate) backlog: BacklogView,
    /// The last failure of the events that wait; null when none of them has failed since the connection was changed.
    pub(crate) last_error: Option<LastErrorView>,
    /// What the provider said to the credentials; only in the answer to a call that has asked it, else null.
    pub(crate) test: Option<TestView>,
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

impl From<&ConsumerState> for ConsumerView {
    fn from(consumer: &ConsumerState) -> Self {
        Self {
            customer: consumer.customer,
            provider_url: consumer.provider_url.clone(),
            application_id: consumer.application_id.clone(),
            api_key_set: consumer.has_api_key,
            connected: consumer.has_api_key && consumer.application_id.is_some(),
            parked: consumer.parked.as_ref().map(ParkedView::from),
            backlog: BacklogView::from(&consumer.backlog),
            last_error: consumer.backlog.failing.as_ref().map(LastErrorView::from),
            test: consumer.tested.as_ref().map(TestView::from),
            updated_at: time(consumer.updated_at),
        }
    }
}

/// Why events wait.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LastError)]
pub(crate) struct LastErrorView {
    /// What went wrong: what the provider answered, or why it could not be reached.
    pub(crate) detail: String,
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// When it is tried again; null while that is under way, or while the queue is parked.
    #[schema(format = DateTime)]
    pub(crate) next_attempt_at: Option<String>,
}

impl From<&Failing> for LastErrorView {
    fn from(failing: &Failing) -> Self {
        let Failing { error, at, next_attempt_at } = failing;
        Self { detail: error.clone(), at: time(*at), next_attempt_at: next_attempt_at.map(time) }
    }
}

/// What a test of the credentials came to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CredentialsTest)]
pub(crate) struct TestView {
    /// True when the provider has the consumer application and takes the key.
    pub(crate) ok: bool,
    /// What it answered, or why it could not be asked; null when all is well.
    pub(crate) detail: Option<String>,
}

impl From<&CredentialTest> for TestView {
    fn from(tested: &CredentialTest) -> Self {
        match tested {
            CredentialTest::Accepted => Self { ok: true, detail: None },
            CredentialTest::Refused(why) => Self { ok: false, detail: Some(why.clone()) },
        }
    }
}

/// Why a queue waits, and since when.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Parked)]
pub(crate) struct ParkedView {
    /// What the provider answered.
    pub(crate) reason: String,
    #[schema(format = DateTime)]
    pub(crate) at: String,
}

impl From<&Parked> for ParkedView {
    fn from(parked: &Parked) -> Self {
        Self { reason: parked.reason.clone(), at: time(parked.at) }
    }
}

/// Events that are not published yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Backlog)]
pub(crate) struct BacklogView {
    pub(crate) pending: u64,
    /// Server time of the oldest of them.
    #[schema(format = DateTime)]
    pub(crate) oldest_at: Option<String>,
    /// Events that the provider refused for good.
    pub(crate) quarantined: u64,
}

impl From<&Backlog> for BacklogView {
    fn from(backlog: &Backlog) -> Self {
        Self { pending: backlog.pending, oldest_at: backlog.oldest_at.map(time), quarantined: backlog.quarantined }
    }
}

/// An event that the provider refused for good.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QuarantinedEvent)]
pub(crate) struct QuarantinedView {
    pub(crate) cursor: i64,
    pub(crate) event_id: String,
    pub(crate) event_type: &'static str,
    /// What the provider answered.
    pub(crate) error: String,
    #[schema(format = DateTime)]
    pub(crate) at: String,
    #[schema(value_type = Object)]
    pub(crate) payload: Option<Box<RawValue>>,
}

impl From<&QuarantinedEvent> for QuarantinedView {
    fn from(quarantined: &QuarantinedEvent) -> Self {
        let event = &quarantined.event;
        Self {
            cursor: event.cursor,
            event_id: event.event_id(),
            event_type: event.event_type.name(),
            error: quarantined.error.clone(),
            at: time(quarantined.at),
            payload: RawValue::from_string(event.body.clone()).ok(),
        }
    }
}
