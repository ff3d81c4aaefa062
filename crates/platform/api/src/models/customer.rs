//! Customers and their connections to a provider.

use platform_core::customers::connections::{ConsumerState, CredentialTest};
use platform_core::port::{Backlog, Customer, Failing, Parked, QuarantinedEvent};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A customer: runs auctions and receives events.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Customer)]
pub(crate) struct CustomerView {
    /// UUID of the customer.
    pub(crate) uuid: Uuid,
    /// Name, unique.
    pub(crate) name: String,
    /// When the customer was created.
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
    /// UUID of the customer.
    pub(crate) customer: Uuid,
    /// `embedded` for the provider of this installation, otherwise the entered base URL of the provider's API.
    pub(crate) provider: String,
    /// Base URL of the provider's API. Of the embedded provider: the address of a node that runs now.
    pub(crate) provider_url: String,
    /// Id of the consumer application (`app_…`); null if none is set.
    pub(crate) application_id: Option<String>,
    /// True if an API key is stored. The key itself is never shown.
    pub(crate) api_key_set: bool,
    /// True if `state` is `working`.
    pub(crate) connected: bool,
    /// What the connection is worth: `entered` (a credential is missing, or no request was made yet), `working`,
    /// `refused` (the provider refuses the credentials), `parked` (the queue waits for support) or `unreachable` (the
    /// provider does not answer or is out of order).
    #[schema(value_type = String)]
    pub(crate) state: &'static str,
    /// When the state began.
    #[schema(format = DateTime)]
    pub(crate) state_since: String,
    /// Why the connection does not work, and what to do; null if `state` is `entered` or `working`.
    pub(crate) state_detail: Option<String>,
    /// Why the queue waits for support; null if it is not parked.
    pub(crate) parked: Option<ParkedView>,
    /// Events that are not published yet.
    pub(crate) backlog: BacklogView,
    /// The last failed attempt to publish the waiting events; null if none has failed since the connection changed.
    pub(crate) last_error: Option<LastErrorView>,
    /// Result of the credentials test; null unless this call made one.
    pub(crate) test: Option<TestView>,
    /// When the connection last changed.
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

impl From<&ConsumerState> for ConsumerView {
    fn from(consumer: &ConsumerState) -> Self {
        let (state, since, detail) = consumer.state();
        Self {
            customer: consumer.customer,
            provider: consumer.provider.as_str().to_owned(),
            provider_url: consumer.provider_url.clone(),
            application_id: consumer.application_id.clone(),
            api_key_set: consumer.has_api_key,
            connected: consumer.is_connected(),
            state: state.as_str(),
            state_since: time(since),
            state_detail: detail.map(str::to_owned),
            parked: consumer.parked.as_ref().map(ParkedView::from),
            backlog: BacklogView::from(&consumer.backlog),
            last_error: consumer.backlog.failing.as_ref().map(LastErrorView::from),
            test: consumer.tested.as_ref().map(TestView::from),
            updated_at: time(consumer.updated_at),
        }
    }
}

/// The last failed attempt to publish.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LastError)]
pub(crate) struct LastErrorView {
    /// What went wrong: the status of the provider's response, or why the provider was not reachable; and what to do.
    pub(crate) detail: String,
    /// When the attempt failed.
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// When the next attempt starts; null while one is running or the queue is parked.
    #[schema(format = DateTime)]
    pub(crate) next_attempt_at: Option<String>,
}

impl From<&Failing> for LastErrorView {
    fn from(failing: &Failing) -> Self {
        let Failing { error, at, next_attempt_at } = failing;
        Self { detail: error.clone(), at: time(*at), next_attempt_at: next_attempt_at.map(time) }
    }
}

/// Result of a test of the credentials.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CredentialsTest)]
pub(crate) struct TestView {
    /// True if the provider has the consumer application and accepts the key.
    pub(crate) ok: bool,
    /// The status of the provider's response, or why the provider was not reachable, and what to do; null if `ok`.
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
    /// Why, and what to do.
    pub(crate) reason: String,
    /// When the queue was parked.
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
    /// Number of waiting events.
    pub(crate) pending: u64,
    /// When the oldest waiting event occurred; null if none waits.
    #[schema(format = DateTime)]
    pub(crate) oldest_at: Option<String>,
    /// Number of events that the provider rejected for good.
    pub(crate) quarantined: u64,
}

impl From<&Backlog> for BacklogView {
    fn from(backlog: &Backlog) -> Self {
        Self { pending: backlog.pending, oldest_at: backlog.oldest_at.map(time), quarantined: backlog.quarantined }
    }
}

/// An event that the provider refused for good, or under whose id it has another message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QuarantinedEvent)]
pub(crate) struct QuarantinedView {
    /// Cursor of the event in the feed.
    pub(crate) cursor: i64,
    /// The `eventId` at the provider: `<subject>.<sequence>`, followed by `.r<number>` if the event was announced again after
    /// the platform was restored from a backup.
    pub(crate) event_id: String,
    /// `ITEM_STATUS_CHANGE` or `AUCTION_STATUS_CHANGE`.
    pub(crate) event_type: &'static str,
    /// Why the provider does not have it, and what to do.
    pub(crate) error: String,
    /// When the provider rejected the event.
    #[schema(format = DateTime)]
    pub(crate) at: String,
    /// The exact body of the webhook.
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
