//! Registration of the two event types in a customer's provider account.

use contract::event::EventType;
use contract::event_type::definition;
use http::{Method, StatusCode};
use serde_json::Value;
use uuid::Uuid;

use super::provider_api::{Provider, accepted_now};
use crate::error::{PlatformError, PlatformResult};
use crate::port::Contact;
use crate::{Caller, Platform, Scope};

/// Keys of an event type's definition that hold texts for people.
const TEXTS: &[&str] = &["description", "title"];

/// What happened to an event type in a customer's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTypeOutcome {
    /// It did not exist.
    Created,
    /// It existed, and has our schema now.
    Updated,
    /// It existed with our schema.
    Unchanged,
}

/// What to do with the texts of an event type that exists: the customer may have changed them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExistingTexts {
    /// They stay.
    #[default]
    Keep,
    /// They become ours.
    Replace,
}

/// An event type that is registered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTypeRegistration {
    /// The event type.
    pub event_type: EventType,
    /// What happened to it.
    pub registered: EventTypeOutcome,
}

impl Platform {
    /// Registers both event types in the customer's provider account: creates them, or updates the schemas of those that
    /// exist. Repeating the call has the same effect.
    ///
    /// Errors: `not_found`, `invalid` (a credential is missing), `provider_refused`.
    pub async fn register_event_types(
        &self,
        caller: &Caller,
        customer: Uuid,
        texts: ExistingTexts,
    ) -> PlatformResult<Vec<EventTypeRegistration>> {
        caller.require(Scope::CustomersWrite)?;
        self.visible_customer(caller, customer).await?;
        let provider = self.provider(customer).await?;
        let mut registrations = Vec::new();
        for &event_type in EventType::ALL {
            let registered = self.register(&provider, event_type, texts).await?;
            registrations.push(EventTypeRegistration { event_type, registered });
        }
        Ok(registrations)
    }

    async fn register(
        &self,
        provider: &Provider,
        event_type: EventType,
        texts: ExistingTexts,
    ) -> PlatformResult<EventTypeOutcome> {
        let mut wanted = serde_json::to_value(definition(event_type))
            .map_err(|error| PlatformError::Internal(format!("an event type can't be written: {error}")))?;
        let created = self.call(provider, Method::POST, "/api/v1/event-type/", wanted.to_string()).await?;
        if created.status != StatusCode::CONFLICT {
            return accepted_now(&created, self.now()).map(|()| EventTypeOutcome::Created);
        }
        let path = format!("/api/v1/event-type/{}/", event_type.name());
        let found = self.call(provider, Method::GET, &path, String::new()).await?;
        accepted_now(&found, self.now())?;
        let existing: Value = serde_json::from_slice(&found.body).map_err(|_| PlatformError::Provider {
            contact: Contact::Unreachable,
            text: "the provider did not answer with an event type. Check its address".into(),
        })?;
        keep_other_versions(&mut wanted, &existing);
        if texts == ExistingTexts::Keep {
            keep_texts(&mut wanted, &existing);
        }
        if contains(&existing, &wanted) {
            return Ok(EventTypeOutcome::Unchanged);
        }
        let updated = self.call(provider, Method::PUT, &path, wanted.to_string()).await?;
        accepted_now(&updated, self.now()).map(|()| EventTypeOutcome::Updated)
    }
}

/// Replaces our texts by those that exist at the same place.
fn keep_texts(wanted: &mut Value, existing: &Value) {
    let (Value::Object(wanted), Value::Object(existing)) = (wanted, existing) else { return };
    for (key, value) in wanted {
        match existing.get(key) {
            Some(Value::String(text)) if TEXTS.contains(&key.as_str()) => *value = Value::String(text.clone()),
            Some(inner) => keep_texts(value, inner),
            None => {}
        }
    }
}

/// Adds the schema versions that only the customer has.
fn keep_other_versions(wanted: &mut Value, existing: &Value) {
    let Some(Value::Object(existing)) = existing.get("schemas") else { return };
    let Some(Value::Object(schemas)) = wanted.get_mut("schemas") else { return };
    for (version, schema) in existing {
        schemas.entry(version.clone()).or_insert_with(|| schema.clone());
    }
}

/// Whether every value of `wanted` exists in `existing`, which may have more.
fn contains(existing: &Value, wanted: &Value) -> bool {
    match (existing, wanted) {
        (Value::Object(existing), Value::Object(wanted)) => {
            wanted.iter().all(|(key, value)| existing.get(key).is_some_and(|existing| contains(existing, value)))
        }
        _ => existing == wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(existing: &Value) -> Value {
        let mut wanted = serde_json::to_value(definition(EventType::AuctionStatusChange)).unwrap();
        keep_other_versions(&mut wanted, existing);
        keep_texts(&mut wanted, existing);
        wanted
    }

    #[test]
    fn texts_and_schema_versions_of_the_customer_stay_and_the_schema_becomes_ours() {
        let mut existing = serde_json::to_value(definition(EventType::AuctionStatusChange)).unwrap();
        existing["description"] = "Our sales".into();
        existing["schemas"]["1"]["title"] = "Sale".into();
        existing["schemas"]["1"]["properties"]["status"]["description"] = "New state".into();
        existing["schemas"]["2"] = json!({"type": "object"});
        existing["createdAt"] = "2026-11-21T06:28:03Z".into();
        assert!(contains(&existing, &kept(&existing)), "nothing is to be written");
        existing["schemas"]["1"]["required"] = json!(["status"]);
        existing["schemas"]["1"]["properties"]["status"]["type"] = "integer".into();
        let kept = kept(&existing);
        assert!(!contains(&existing, &kept));
        assert_eq!(kept["description"], "Our sales");
        assert_eq!(kept["schemas"]["1"]["properties"]["status"], json!({"description": "New state", "type": "string"}));
        assert_eq!(kept["schemas"]["1"]["required"].as_array().unwrap().len(), 3);
        assert_eq!(kept["schemas"]["2"], json!({"type": "object"}));
    }
}
