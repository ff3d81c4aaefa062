//! A connection as it may be shown.

use jiff::Timestamp;
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{Backlog, Consumer, Contact, ContactRecord, Parked, ProviderAddress};
use crate::{Caller, Platform, Scope};

/// What a connection is worth now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// A credential is missing, or no request has shown yet that the credentials work.
    Entered,
    /// The provider accepted the last request.
    Working,
    /// The provider refused the credentials or the application.
    Refused,
    /// The queue waits for support.
    Parked,
    /// The provider does not answer, or is out of order; the platform tries again.
    Unreachable,
}

impl ConnectionState {
    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entered => "entered",
            Self::Working => "working",
            Self::Refused => "refused",
            Self::Parked => "parked",
            Self::Unreachable => "unreachable",
        }
    }
}

/// A connection as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerState {
    /// The customer.
    pub customer: Uuid,
    /// The provider as support chose it.
    pub provider: ProviderAddress,
    /// Base address of the provider's API; of the embedded provider, where it is now.
    pub provider_url: String,
    /// Consumer application identifier.
    pub application_id: Option<String>,
    /// True when there is an API key.
    pub has_api_key: bool,
    /// True when the platform made the key, at the embedded provider.
    pub has_made_key: bool,
    /// What requests to the provider have shown.
    pub contact: ContactRecord,
    /// Set while the queue waits for support.
    pub parked: Option<Parked>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What waits to be published.
    pub backlog: Backlog,
    /// The outcome of a test, where this call has made one.
    pub tested: Option<CredentialTest>,
}

/// What a test of the credentials came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialTest {
    /// The provider has the consumer application, and takes the key.
    Accepted,
    /// It does not, or could not be asked; why, for support to read. Holds no secret.
    Refused(String),
}

impl ConsumerState {
    /// What the connection is worth, since when, and the cause with what to do if it does not work.
    pub fn state(&self) -> (ConnectionState, Timestamp, Option<&str>) {
        let ContactRecord { contact, since, detail } = &self.contact;
        if !self.is_complete() {
            return (ConnectionState::Entered, self.updated_at, None);
        }
        if let Some(parked) = &self.parked {
            return (ConnectionState::Parked, parked.at, Some(&parked.reason));
        }
        let state = match contact {
            Contact::Untried => ConnectionState::Entered,
            Contact::Working => ConnectionState::Working,
            Contact::Refused => ConnectionState::Refused,
            Contact::Unreachable => ConnectionState::Unreachable,
        };
        (state, *since, detail.as_deref())
    }

    /// True when both credentials are there.
    pub fn is_complete(&self) -> bool {
        self.has_api_key && self.application_id.is_some()
    }

    /// True only for a connection that works.
    pub fn is_connected(&self) -> bool {
        self.state().0 == ConnectionState::Working
    }
}

impl Platform {
    /// A customer's connection, and what waits for it.
    ///
    /// Errors: `not_found` (customer, or not connected).
    pub async fn consumer(&self, caller: &Caller, customer: Uuid) -> PlatformResult<ConsumerState> {
        caller.require_one_of(&[Scope::CustomersRead, Scope::CustomersWrite])?;
        self.visible_customer(caller, customer).await?;
        self.consumer_state(customer).await
    }

    pub(super) async fn consumer_state(&self, customer: Uuid) -> PlatformResult<ConsumerState> {
        let consumer = self.store().consumer(customer).await?.ok_or(PlatformError::NotFound("connection"))?;
        let mut backlog = self.store().backlog(customer).await?;
        if let Some(failing) = backlog.failing.as_mut().filter(|_| consumer.parked.is_some()) {
            failing.next_attempt_at = None;
        }
        let provider_url = self.provider_access().shown_url(&consumer.provider).await;
        let Consumer { provider, application_id, api_key, has_made_key, parked, contact, updated_at, .. } = consumer;
        let has_api_key = api_key.is_some();
        Ok(ConsumerState {
            customer,
            provider,
            provider_url,
            application_id,
            has_api_key,
            has_made_key,
            contact,
            parked,
            updated_at,
            backlog,
            tested: None,
        })
    }
}
