//! Entries about applications, endpoints, event types and messages sent by hand, recorded directly after their change.

use super::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::model::hidden_account;
use crate::model::ordering::{DeliveryOrder, OrderingKey};
use crate::model::{Application, Endpoint, EventType, Message};
use crate::port::AlertScope;
use crate::provider::Provider;

/// A change of an object: `before` is none if it was created, `after` if it was deleted.
pub(crate) struct Change<'a, T> {
    before: Option<&'a T>,
    after: Option<&'a T>,
}

impl<T> Clone for Change<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Change<'_, T> {}

impl<'a, T> Change<'a, T> {
    pub(crate) fn created(after: &'a T) -> Self {
        Self { before: None, after: Some(after) }
    }

    pub(crate) fn replaced(before: &'a T, after: &'a T) -> Self {
        Self { before: Some(before), after: Some(after) }
    }

    pub(crate) fn deleted(before: &'a T) -> Self {
        Self { before: Some(before), after: None }
    }

    /// The object: its new state, or the last state of a deleted object.
    fn object(self) -> Option<&'a T> {
        self.after.or(self.before)
    }

    /// Adds a value of the object, before and after the change.
    fn add_value(self, values: ChangedValues, name: &str, of: impl Fn(&T) -> Option<String>) -> ChangedValues {
        let (before, after) = (self.before.and_then(&of), self.after.and_then(&of));
        values.value(name, before.as_deref(), after.as_deref())
    }
}

fn list(names: Option<&Vec<String>>) -> Option<String> {
    names.map(|names| names.join(", "))
}

/// An address without its query, which may contain a token.
pub(super) fn without_query(url: &str) -> String {
    url.split_once('?').map_or_else(|| url.to_owned(), |(address, _)| format!("{address}?…"))
}

fn application_values(change: Change<'_, Application>) -> ChangedValues {
    let values = change.add_value(ChangedValues::default(), "name", |application| Some(application.name.clone()));
    let values = change.add_value(values, "uid", |application| application.uid.clone());
    let values = change.add_value(values, "throttle rate", |application| {
        application.throttle_rate.map(|rate| format!("{rate} messages a second"))
    });
    change.add_value(values, "metadata", |application| {
        let names: Vec<&str> = application.metadata.keys().map(String::as_str).collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    })
}

fn endpoint_values(change: Change<'_, Endpoint>) -> ChangedValues {
    let values = change.add_value(ChangedValues::default(), "address", |endpoint| Some(without_query(&endpoint.url)));
    let values = change.add_value(values, "uid", |endpoint| endpoint.uid.clone());
    let values = change.add_value(values, "description", |endpoint| {
        Some(endpoint.description.clone()).filter(|text| !text.is_empty())
    });
    let values = change
        .add_value(values, "state", |endpoint| Some(if endpoint.disabled { "disabled" } else { "enabled" }.to_owned()));
    let values = change.add_value(values, "event types", |endpoint| list(endpoint.filter_types.as_ref()));
    let values = change.add_value(values, "channels", |endpoint| list(endpoint.channels.as_ref()));
    let values = change.add_value(values, "throttle rate", |endpoint| {
        endpoint.throttle_rate.map(|rate| format!("{rate} messages a second"))
    });
    let values = change.add_value(values, "ordering", |endpoint| {
        (endpoint.ordering == DeliveryOrder::PerKey).then(|| "by key".to_owned())
    });
    let values = change
        .add_value(values, "header traceparent", |endpoint| endpoint.sends_trace_parent.then(|| "sent".to_owned()));
    // Values of headers may be secrets, so only their names are recorded.
    change.add_value(values, "headers", |endpoint| {
        let names: Vec<&str> = endpoint.headers.keys().map(String::as_str).collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    })
}

fn event_type_values(change: Change<'_, EventType>) -> ChangedValues {
    let values = change.add_value(ChangedValues::default(), "description", |event_type| {
        Some(event_type.description.clone()).filter(|text| !text.is_empty())
    });
    let values = change.add_value(values, "state", |event_type| {
        Some(if event_type.archived { "archived" } else { "active" }.to_owned())
    });
    let values = change.add_value(values, "deprecated", |event_type| event_type.deprecated.then(|| "yes".to_owned()));
    let values = change.add_value(values, "group", |event_type| event_type.group_name.clone());
    change.add_value(values, "schema", |event_type| event_type.schemas.as_ref().map(ToString::to_string))
}

impl Provider {
    pub(crate) async fn record_application(&self, caller: &Caller, change: Change<'_, Application>) {
        let action = match (change.before, change.after) {
            (None, Some(_)) => Action::ApplicationCreated,
            (Some(_), None) => Action::ApplicationDeleted,
            _ => Action::ApplicationChanged,
        };
        let (Some(subject), values) = (change.object(), application_values(change)) else { return };
        // The hidden application of operational webhooks is no application of the account.
        if hidden_account::is_hidden(&caller.account) {
            return;
        }
        let subject = Subject { id: &subject.id, name: &subject.name };
        self.record(caller, action, subject, values).await;
    }

    pub(crate) async fn record_endpoint(&self, caller: &Caller, change: Change<'_, Endpoint>) {
        let action = match (change.before, change.after) {
            (None, Some(_)) => Action::EndpointCreated,
            (Some(_), None) => Action::EndpointDeleted,
            _ => Action::EndpointChanged,
        };
        let (Some(subject), values) = (change.object(), endpoint_values(change)) else { return };
        let name = without_query(&subject.url);
        self.record(caller, action, Subject { id: &subject.id, name: &name }, values).await;
    }

    pub(crate) async fn record_rotation(&self, caller: &Caller, endpoint: &Endpoint) {
        let name = without_query(&endpoint.url);
        let subject = Subject { id: &endpoint.id, name: &name };
        self.record(caller, Action::SecretRotated, subject, ChangedValues::default()).await;
    }

    /// Records that a user sent a message by hand.
    pub(crate) async fn record_message(&self, caller: &Caller, application: &Application, message: &Message) {
        let values = ChangedValues::default()
            .value("event type", None, Some(&message.event_type))
            .value("application", None, Some(&format!("{} ({})", application.name, application.id)))
            .value("event id", None, message.event_id.as_deref())
            .value("channels", None, list(message.channels.as_ref()).as_deref());
        self.record(caller, Action::MessageSent, Subject { id: &message.id, name: "" }, values).await;
    }

    /// Records that an event type was created, changed, archived or deleted.
    pub(crate) async fn record_event_type(&self, caller: &Caller, change: Change<'_, EventType>) {
        let action = match (change.before, change.after) {
            (None, Some(_)) => Action::EventTypeCreated,
            (Some(_), None) => Action::EventTypeDeleted,
            (Some(old), Some(new)) if new.archived && !old.archived => Action::EventTypeArchived,
            _ => Action::EventTypeChanged,
        };
        let (Some(subject), values) = (change.object(), event_type_values(change)) else { return };
        if hidden_account::is_hidden(&caller.account) {
            return;
        }
        self.record(caller, action, Subject { id: &subject.name, name: "" }, values).await;
    }

    pub(crate) async fn record_import(&self, caller: &Caller, changed: &[EventType], archived: &[EventType]) {
        if changed.is_empty() && archived.is_empty() {
            return;
        }
        let names = |event_types: &[EventType]| {
            let names: Vec<&str> = event_types.iter().map(|event_type| event_type.name.as_str()).collect();
            Some(names.join(", ")).filter(|names| !names.is_empty())
        };
        let values = ChangedValues::default().value("added or changed", None, names(changed).as_deref()).value(
            "archived",
            None,
            names(archived).as_deref(),
        );
        self.record(caller, Action::EventTypesImported, Subject { id: "OpenAPI document", name: "" }, values).await;
    }

    /// Records that an address was added or removed that receives alerts of this scope.
    pub(crate) async fn record_alert_recipient(
        &self,
        caller: &Caller,
        action: Action,
        scope: &AlertScope,
        address: &str,
    ) {
        let of = Some(scope.application.as_deref().unwrap_or("all applications"));
        let values = match action {
            Action::AlertRecipientRemoved => ChangedValues::default().value("alerts of", of, None),
            _ => ChangedValues::default().value("alerts of", None, of),
        };
        self.record(caller, action, Subject { id: address, name: "" }, values).await;
    }

    /// Records that the caller received a signed request with a message to an endpoint.
    pub(crate) async fn record_signed_request(&self, caller: &Caller, endpoint: &Endpoint, message: &str) {
        let subject = Subject { id: &endpoint.id, name: &without_query(&endpoint.url) };
        let values = ChangedValues::default().value("message", None, Some(message));
        self.record(caller, Action::RequestSigned, subject, values).await;
    }

    /// Records that the message that an ordering key waits for was skipped or retried.
    pub(crate) async fn record_blocked_message(
        &self,
        caller: &Caller,
        action: Action,
        endpoint: &Endpoint,
        (message, key): (&str, &OrderingKey),
    ) {
        let subject = Subject { id: &endpoint.id, name: &without_query(&endpoint.url) };
        let values = ChangedValues::default().value("message", None, Some(message));
        let values = values.value("ordering key", None, Some(key.as_str()));
        self.record(caller, action, subject, values).await;
    }

    /// Records a change that is committed already. The caller gets the change's result even if the entry can't be
    /// written.
    pub(super) async fn record(&self, caller: &Caller, action: Action, subject: Subject<'_>, values: ChangedValues) {
        let is_change =
            matches!(action, Action::ApplicationChanged | Action::EndpointChanged | Action::EventTypeChanged);
        if is_change && values.is_empty() {
            return;
        }
        let entry = self.activity_entry(&Actor::of_caller(caller), action, subject, values);
        if let Err(error) = self.store().record_activity(entry).await {
            tracing::warn!(%error, action = action.name(), subject = subject.id, "an activity could not be recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_an_address_is_not_recorded() {
        assert_eq!(without_query("https://a.example/hook?token=secret"), "https://a.example/hook?…");
        assert_eq!(without_query("https://a.example/hook"), "https://a.example/hook");
    }
}
