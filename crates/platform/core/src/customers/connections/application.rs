//! Creation of the consumer application in a customer's provider account.

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::provider_api::accepted_now;
use super::{is_application_id, later};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, AccessChangeResult, Consumer, Contact, ContactRecord};
use crate::{Caller, Platform, Scope};

/// Attempts while others change the connection at the same time.
const ATTEMPTS_MAX: usize = 5;

#[derive(Deserialize)]
struct ApplicationBody {
    id: String,
}

impl Platform {
    /// Creates the consumer application in the customer's provider account, and enters it into the connection. An application
    /// that was entered stays. Its uid is the customer's UUID, so that a repeated call finds it.
    ///
    /// Errors: `not_found`, `invalid` (the API key is missing), `provider_refused`.
    pub(super) async fn create_application(&self, caller: &Caller, customer: Uuid) -> PlatformResult<()> {
        caller.require(Scope::CustomersWrite)?;
        let name = self.visible_customer(caller, customer).await?.name;
        for _ in 0..ATTEMPTS_MAX {
            let before = self.store().consumer(customer).await?.ok_or(PlatformError::NotFound("connection"))?;
            if before.application_id.is_some() {
                return Ok(());
            }
            let id = self.application_at_provider(&before, &name).await?;
            let (expected, updated_at) = (before.updated_at, later(self.now(), Some(before.updated_at)));
            let contact = ContactRecord { contact: Contact::Untried, since: updated_at, detail: None };
            let consumer = Consumer { application_id: Some(id), parked: None, contact, updated_at, ..before };
            let event = AccessEvent::ConnectionEntered {
                customer,
                provider_url: consumer.provider.as_str().to_owned(),
                application_id: consumer.application_id.clone(),
                api_key_entered: false,
                api_key_made: false,
            };
            let note = self.note(caller, event)?;
            let change = AccessChange::ReplaceConsumer(consumer, Some(expected));
            if self.store().apply_access_change(change, note).await? == AccessChangeResult::Done {
                self.publisher().connection_changed(customer);
                return Ok(());
            }
        }
        Err(PlatformError::Busy)
    }

    /// The id of the application with the customer's UUID as its uid, which is created unless it exists.
    async fn application_at_provider(&self, consumer: &Consumer, name: &str) -> PlatformResult<String> {
        let uid = consumer.customer.to_string();
        let provider = self.provider_of(consumer.clone())?;
        let body = json!({ "name": name, "uid": uid }).to_string();
        let mut answer = self.call(&provider, Method::POST, "/api/v1/app/?get_if_exists=true", body).await?;
        if answer.status == StatusCode::CONFLICT {
            // A provider without `get_if_exists`.
            answer = self.call(&provider, Method::GET, &format!("/api/v1/app/{uid}/"), String::new()).await?;
        }
        accepted_now(&answer, self.now())?;
        let application = serde_json::from_slice::<ApplicationBody>(&answer.body).ok();
        let id = application.map(|application| application.id).filter(|id| is_application_id(id));
        id.ok_or_else(|| PlatformError::Provider {
            contact: Contact::Unreachable,
            text: "the provider did not answer with an application. Check its address".into(),
        })
    }
}
