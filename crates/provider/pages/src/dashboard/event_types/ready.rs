//! Ready event types: definitions that the binary hands in, and that a user adds with one click.

use axum::response::{IntoResponse as _, Response};
use provider_core::{EventTypeInput, ProviderError};
use serde_json::Value;

use crate::dashboard::session::DashboardSession;
use crate::page_error::PageError;

/// Definitions that can be added as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadyEventTypes {
    /// Who sends messages of these event types, such as "the auction platform".
    pub sender: String,
    /// The definitions.
    pub event_types: Vec<ReadyEventType>,
}

/// The definition of an event type.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyEventType {
    /// Name, such as `ITEM_STATUS_CHANGE`.
    pub name: String,
    /// Description, for the person who chooses the event types of an endpoint.
    pub description: String,
    /// JSON Schema per version key.
    pub schemas: Value,
}

impl ReadyEventTypes {
    /// Those that the account does not have, archived ones included.
    pub(in crate::dashboard) async fn missing(
        &self,
        session: &DashboardSession,
    ) -> Result<Vec<&ReadyEventType>, ProviderError> {
        let mut missing = Vec::new();
        for ready in &self.event_types {
            match session.provider().event_type(&session.caller, &ready.name).await {
                Err(ProviderError::NotFound) => missing.push(ready),
                Ok(event_type) if event_type.archived => missing.push(ready),
                found => drop(found?),
            }
        }
        Ok(missing)
    }
}

/// Adds the missing ones and shows the list.
pub(super) async fn add(session: DashboardSession) -> Result<Response, PageError> {
    for ready in session.dashboard.ready().missing(&session).await? {
        let input = EventTypeInput {
            description: ready.description.clone(),
            schemas: Some(ready.schemas.clone()),
            ..EventTypeInput::default()
        };
        match session.provider().create_event_type(&session.caller, &ready.name, input, None, |_| String::new()).await {
            // Another user added it meanwhile.
            Ok(_) | Err(ProviderError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(session.dashboard.redirect("/event-types?done=event-types-added").into_response())
}
