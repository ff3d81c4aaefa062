//! A customer's connection to its consumer application at a provider.
//!
//! Support enters the provider's address, the application identifier and the API key. The platform seals the key before
//! it reaches the store and never shows it again. Without both credentials nothing is published; the journal is written
//! all the same.

mod application;
mod deliveries;
mod disconnect;
mod embedded_account;
pub mod endpoints;
mod event_types;
mod portal_link;
mod provider_api;
mod set_up;
mod state;

use std::time::Duration;

use jiff::Timestamp;
use kit_outbound::url::parse_server_url;
use kit_runtime::vault::{Sealed, Secret};
use url::Url;
use uuid::Uuid;

pub use deliveries::{EventAttempt, EventEndpoint, EventMessage, EventName, RESEND_SCOPES};
pub use disconnect::EndedConnection;
pub use event_types::{EventTypeOutcome, EventTypeRegistration, ExistingTexts};
pub use portal_link::PortalRights;
pub use set_up::{SetUp, SetUpStep};
pub use state::{ConnectionState, ConsumerState, CredentialTest};

use crate::access::KEY_PREFIX;
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{
    AccessChange, Backlog, Consumer, Contact, ContactRecord, Cursor, Page, ProviderAddress, QuarantinedEvent,
    StartFrom, StoreError,
};
use crate::provider_access::{NoRoute, provider_key_context};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::{CodedProblem, require_usable};
use crate::{Caller, Platform, Scope};

/// How identifiers of consumer applications begin.
pub const APPLICATION_PREFIX: &str = "app_";
const APPLICATION_ID_BYTES_MAX: usize = 256;
const API_KEY_BYTES_MAX: usize = 1_000;
const URL_BYTES_MAX: usize = 2_000;

/// At which provider the customer has its account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProviderChoice {
    /// The one that is entered; of a customer without a connection, the one of the configuration. A key is never sent
    /// to another provider because an address was left out.
    #[default]
    Kept,
    /// The one of the configuration, or the embedded one if the configuration names none.
    Configured,
    /// The one of this installation, wherever its nodes are.
    Embedded,
    /// The one with this base address of its API, such as `https://api.eu.example.com`.
    Of(String),
}

impl ProviderChoice {
    /// The choice that support entered: an address, or the word `embedded`.
    pub fn entered(text: String) -> Self {
        if text == ProviderAddress::Embedded.as_str() { Self::Embedded } else { Self::Of(text) }
    }
}

/// What support enters.
#[derive(Debug, Clone)]
pub struct ConnectConsumer {
    /// The provider.
    pub provider: ProviderChoice,
    /// Consumer application identifier (`app_…`); none keeps the one that is there.
    pub application_id: Option<String>,
    /// The provider API key; none keeps the one that is there, unless the provider changes.
    pub api_key: Option<Secret>,
    /// Which announced events it begins with.
    pub start: StartFrom,
}

impl Platform {
    /// Connects a customer to its consumer application, or changes the connection. A parked queue resumes. The platform
    /// then requests the application from the provider with the new credentials and returns the outcome. The
    /// connection is stored even if this test fails, because the provider may be unavailable at that moment.
    ///
    /// Repeating the call has the same effect, so it takes no idempotency key. A key that the platform had made is revoked before
    /// another one takes its place.
    ///
    /// Errors: `not_found` (customer), `invalid`, `api_key_required`, `cursor_beyond_end`, `provider_refused` (the made key could
    /// not be revoked; nothing changed).
    pub async fn connect_consumer(
        &self,
        caller: &Caller,
        customer: Uuid,
        connect: &ConnectConsumer,
    ) -> PlatformResult<ConsumerState> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let before = self.store().consumer(customer).await?;
        let (provider, problems, coded) = self.check_connection(before.as_ref(), connect).await?;
        require_usable(problems, coded)?;
        if connect.api_key.is_some() {
            // The platform alone knows the key that is replaced, and forgets it.
            self.revoke_made_key(customer).await?;
        }
        let seal =
            |key: &Secret| self.vault().seal(self.random().as_ref(), &provider_key_context(customer), key.expose());
        let kept = |consumer: &Consumer| (consumer.application_id.clone(), consumer.api_key.clone());
        let (application_id, api_key) = before.as_ref().map(kept).unwrap_or_default();
        let has_made_key = connect.api_key.is_none() && before.as_ref().is_some_and(|before| before.has_made_key);
        let updated_at = later(self.now(), before.as_ref().map(|before| before.updated_at));
        let consumer = Consumer {
            customer,
            provider,
            application_id: connect.application_id.clone().or(application_id),
            api_key: connect.api_key.as_ref().map(seal).or(api_key).map(|key| self.sealed_now(customer, key)),
            has_made_key,
            parked: None,
            contact: ContactRecord { contact: Contact::Untried, since: updated_at, detail: None },
            updated_at,
        };
        let is_complete = consumer.is_complete();
        let event = AccessEvent::ConnectionEntered {
            customer,
            provider_url: consumer.provider.as_str().to_owned(),
            application_id: consumer.application_id.clone(),
            api_key_entered: connect.api_key.is_some(),
            api_key_made: false,
        };
        let note = self.note(caller, event)?;
        self.store().apply_access_change(AccessChange::PutConsumer(consumer, connect.start), note).await?;
        self.publisher().connection_changed(customer);
        let tested = if is_complete { Some(self.tested(customer).await?) } else { None };
        Ok(ConsumerState { tested, ..self.consumer_state(customer).await? })
    }

    /// All problems of what support entered for a customer, without saving it. Errors: `not_found` (customer).
    pub async fn problems_of_connection(
        &self,
        caller: &Caller,
        customer: Uuid,
        connect: &ConnectConsumer,
    ) -> PlatformResult<Vec<Problem>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let before = self.store().consumer(customer).await?;
        let (_, mut problems, coded) = self.check_connection(before.as_ref(), connect).await?;
        problems.extend(coded.into_iter().map(|(problem, _)| problem));
        Ok(problems)
    }

    /// The provider, its address without a slash at its end, and all problems of the input.
    async fn check_connection(
        &self,
        before: Option<&Consumer>,
        connect: &ConnectConsumer,
    ) -> PlatformResult<(ProviderAddress, Vec<Problem>, Vec<CodedProblem>)> {
        let default = || self.provider_access().default_address();
        let entered = match &connect.provider {
            ProviderChoice::Kept => before.map_or_else(default, |before| before.provider.clone()),
            ProviderChoice::Configured => default(),
            ProviderChoice::Embedded => ProviderAddress::Embedded,
            ProviderChoice::Of(url) => ProviderAddress::Url(url.clone()),
        };
        let (mut problems, mut coded) = (check_credentials(connect), Vec::new());
        let provider = match checked_provider(&entered) {
            Ok(provider) => {
                if let Err(refused @ NoRoute::Refused(_)) = self.provider_access().route(&provider).await {
                    problems.insert(0, Problem::new("/providerUrl", refused.to_string()));
                }
                // A person who may enter an address but does not know the key must not receive the key there.
                let has_other_key =
                    before.is_some_and(|before| before.api_key.is_some() && before.provider != provider);
                if has_other_key && connect.api_key.is_none() {
                    let message = "is of another provider: enter the key of this one";
                    coded.push((Problem::new("/apiKey", message), PlatformError::ApiKeyRequired));
                }
                provider
            }
            Err(message) => {
                problems.insert(0, Problem::new("/providerUrl", message));
                entered
            }
        };
        match self.check_start(connect.start).await {
            Err(PlatformError::Invalid(wrong)) => problems.extend(wrong),
            Err(refused @ PlatformError::CursorBeyondEnd(_)) => {
                coded.push((Problem::new("/startFrom", refused.to_string()), refused));
            }
            checked => checked?,
        }
        Ok((provider, problems, coded))
    }

    /// Events that the provider refused for good, by cursor.
    pub async fn quarantined(
        &self,
        caller: &Caller,
        customer: Uuid,
        page: Page<Cursor>,
    ) -> PlatformResult<Vec<QuarantinedEvent>> {
        caller.require(Scope::CustomersRead)?;
        self.visible_customer(caller, customer).await?;
        Ok(self.store().quarantined(customer, page).await?)
    }

    /// Asks the provider for the consumer application, with the credentials that are there; if it answers, the
    /// customer's queue runs again.
    ///
    /// Errors: `not_found`, `invalid` (a credential is missing), `provider_refused`.
    pub async fn test_and_resume(&self, caller: &Caller, customer: Uuid) -> PlatformResult<ConsumerState> {
        self.resume_consumer(caller, customer, None).await?.fresh()
    }

    /// The same with an idempotency key: a repeated call asks the provider nothing.
    pub async fn resume_consumer(
        &self,
        caller: &Caller,
        customer: Uuid,
        answering: Option<IdempotentRequest<'_, ConsumerState>>,
    ) -> PlatformResult<Outcome<ConsumerState>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        self.test_provider(customer).await?;
        let state = self.consumer_state(customer).await?;
        let updated_at = later(self.now(), Some(state.updated_at));
        let backlog = Backlog { failing: None, ..state.backlog };
        let contact = match state.contact {
            working if working.contact == Contact::Working => working,
            _ => ContactRecord { contact: Contact::Working, since: self.now(), detail: None },
        };
        let tested = Some(CredentialTest::Accepted);
        let state = ConsumerState { parked: None, contact, updated_at, backlog, tested, ..state };
        let answer = answering.as_ref().map(|answering| answering.answer(&state, self.now()));
        match self.store().resume_queue(customer, updated_at, answer).await {
            Ok(()) => {
                self.store().record_contact(customer, updated_at, state.contact.clone()).await?;
                self.publisher().connection_changed(customer);
                Ok(Outcome::Fresh(state))
            }
            Err(StoreError::Replayed) => self.replayed(answering.as_ref()).await,
            Err(error) => Err(error.into()),
        }
    }

    /// The key of a connection that is being changed, sealed with the first key. Otherwise the change could undo a
    /// concurrent reseal.
    fn sealed_now(&self, customer: Uuid, key: Sealed) -> Sealed {
        let renewed = self.vault().reseal(self.random().as_ref(), &provider_key_context(customer), &key);
        renewed.ok().flatten().unwrap_or(key)
    }
}

/// The time of a change, later than that of the one before also within a millisecond: lanes tell connections by it.
fn later(now: Timestamp, before: Option<Timestamp>) -> Timestamp {
    before.map_or(now, |before| now.max(before + Duration::from_millis(1)))
}

/// The provider, its address without a slash at its end.
fn checked_provider(provider: &ProviderAddress) -> Result<ProviderAddress, String> {
    match provider {
        ProviderAddress::Embedded => Ok(ProviderAddress::Embedded),
        ProviderAddress::Url(url) => provider_url(url).map(ProviderAddress::Url),
    }
}

/// The problems of the application and the API key.
fn check_credentials(connect: &ConnectConsumer) -> Vec<Problem> {
    let mut problems = Vec::new();
    if connect.application_id.as_deref().is_some_and(|id| !is_application_id(id)) {
        let message = format!("is not a consumer application identifier: it begins with {APPLICATION_PREFIX}");
        problems.push(Problem::new("/applicationId", message));
    }
    if let Some(key) = &connect.api_key {
        let key = key.expose();
        if key.starts_with(KEY_PREFIX.as_bytes()) {
            let message = format!(
                "is an API key of the platform ({KEY_PREFIX}…). Enter the API key of the customer's account at the \
                 provider; `lotwire provider key create` makes one for the embedded provider"
            );
            problems.push(Problem::new("/apiKey", message));
        } else if key.is_empty() || key.len() > API_KEY_BYTES_MAX || !key.iter().all(u8::is_ascii_graphic) {
            problems.push(Problem::new("/apiKey", "is not an API key: it has visible ASCII characters only"));
        }
    }
    problems
}

/// Whether the text has the form of a consumer application identifier.
fn is_application_id(id: &str) -> bool {
    let id_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let rest = id.strip_prefix(APPLICATION_PREFIX).unwrap_or("");
    !rest.is_empty() && id.len() <= APPLICATION_ID_BYTES_MAX && rest.bytes().all(id_byte)
}

fn provider_url(text: &str) -> Result<String, String> {
    let refused = |why: &str| Err(format!("{why}: enter the provider's base address, such as https://api.example.com"));
    let Ok(url) = Url::parse(text) else { return refused("is not an address") };
    if text.len() > URL_BYTES_MAX || !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return refused("is not an http or https address");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("holds credentials");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return refused("has a part after ? or #");
    }
    // Parsers read backslashes, additional slashes and white space differently, and so does a person.
    if parse_server_url(text).is_err() {
        return refused("is not a plain address");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_access::messages_url;

    fn provider(url: &str) -> Result<ProviderAddress, String> {
        checked_provider(&ProviderAddress::Url(url.into()))
    }

    fn problems(id: &str, key: &str) -> Vec<Problem> {
        check_credentials(&ConnectConsumer {
            provider: ProviderChoice::Kept,
            application_id: Some(id.into()),
            api_key: Some(Secret::new(key.as_bytes().to_vec())),
            start: StartFrom::Now,
        })
    }

    fn pointers(id: &str, key: &str) -> Vec<String> {
        problems(id, key).into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn the_address_is_kept_without_a_slash_at_its_end() {
        let kept = |url| provider(url).unwrap().as_str().to_owned();
        assert_eq!(kept("http://127.0.0.1:8071/"), "http://127.0.0.1:8071");
        assert_eq!(kept("https://hooks.example.com/provider/"), "https://hooks.example.com/provider");
        assert_eq!(
            messages_url(&kept("http://127.0.0.1:8071"), "app_1"),
            "http://127.0.0.1:8071/api/v1/app/app_1/msg/"
        );
    }

    #[test]
    fn addresses_and_credentials_that_cannot_be_used_are_refused() {
        for url in ["ftp://x", "https://u:p@example.com", "https://example.com?x=1"] {
            assert!(provider(url).is_err(), "{url}");
        }
        assert_eq!(pointers("ap_1", "with blank"), ["/applicationId", "/apiKey"]);
        assert_eq!(pointers("app_", ""), ["/applicationId", "/apiKey"]);
        assert_eq!(pointers("app_a/b", "sk"), ["/applicationId"]);
    }

    #[test]
    fn a_key_of_the_platform_is_recognised_by_its_prefix() {
        let refused = problems("app_1", "lw_abc");
        assert_eq!(refused[0].pointer, "/apiKey");
        assert!(refused[0].message.contains("an API key of the platform"), "{refused:?}");
        assert_eq!(problems("app_1", "lwp_abc"), []);
    }
}
