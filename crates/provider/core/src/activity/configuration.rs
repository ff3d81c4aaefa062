//! Entries about applications, endpoints and event types, recorded directly after their change.

use super::{Action, Actor, ChangedValues, Subject};
use crate::accounts::caller::Caller;
use crate::model::{Application, Endpoint, EventType};
use crate::operational;
use crate::ordering::DeliveryOrder;
use crate::port::AlertScope;
use crate::provider::Provider;

/// An object before and after its change: none before it was created, and after it was deleted.
type Change<'a, T> = (Option<&'a T>, Option<&'a T>);

/// Adds a value of the object before and after.
fn value<T>(
    values: ChangedValues,
    name: &str,
    (old, new): Change<'_, T>,
    of: impl Fn(&T) -> Option<String>,
) -> ChangedValues {
    let (old, new) = (old.and_then(&of), new.and_then(&of));
    values.value(name, old.as_deref(), new.as_deref())
}

fn list(names: Option<&Vec<String>>) -> Option<String> {
    names.map(|names| names.join(", "))
}

/// An address without its query, which may contain a token.
fn without_query(url: &str) -> String {
    url.split_once('?').map_or_else(|| url.to_owned(), |(address, _)| format!("{address}?…"))
}

fn application_values(change: Change<'_, Application>) -> ChangedValues {
    let values = value(ChangedValues::default(), "name", change, |application| Some(application.name.clone()));
    let values = value(values, "uid", change, |application| application.uid.clone());
    let values = value(values, "throttle rate", change, |application| {
        application.throttle_rate.map(|rate| format!("{rate} messages a second"))
    });
    value(values, "metadata", change, |application| {
        let names: Vec<&str> = application.metadata.keys().map(String::as_str).collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    })
}

fn endpoint_values(change: Change<'_, Endpoint>) -> ChangedValues {
    let values = value(ChangedValues::default(), "address", change, |endpoint| Some(without_query(&endpoint.url)));
    let values = value(values, "uid", change, |endpoint| endpoint.uid.clone());
    let values = value(values, "description", change, |endpoint| {
        Some(endpoint.description.clone()).filter(|text| !text.is_empty())
    });
    let values = value(values, "state", change, |endpoint| {
        Some(if endpoint.disabled { "disabled" } else { "enabled" }.to_owned())
    });
    let values = value(values, "event types", change, |endpoint| list(endpoint.filter_types.as_ref()));
    let values = value(values, "channels", change, |endpoint| list(endpoint.channels.as_ref()));
    let values = value(values, "throttle rate", change, |endpoint| {
        endpoint.throttle_rate.map(|rate| format!("{rate} messages a second"))
    });
    let values = value(values, "ordering", change, |endpoint| {
        (endpoint.ordering == DeliveryOrder::PerKey).then(|| "by key".to_owned())
    });
    // Values of headers may be secrets, so only their names are recorded.
    value(values, "headers", change, |endpoint| {
        let names: Vec<&str> = endpoint.headers.keys().map(String::as_str).collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    })
}

fn event_type_values(change: Change<'_, EventType>) -> ChangedValues {
    let values = value(ChangedValues::default(), "description", change, |event_type| {
        Some(event_type.description.clone()).filter(|text| !text.is_empty())
    });
    let values = value(values, "state", change, |event_type| {
        Some(if event_type.archived { "archived" } else { "active" }.to_owned())
    });
    let values = value(values, "deprecated", change, |event_type| event_type.deprecated.then(|| "yes".to_owned()));
    let values = value(values, "group", change, |event_type| event_type.group_name.clone());
    value(values, "schema", change, |event_type| event_type.schemas.as_ref().map(ToString::to_string))
}

impl Provider {
    /// Records that an application was created, changed or deleted.
    pub(crate) async fn record_application(&self, caller: &Caller, change: Change<'_, Application>) {
        let action = match change {
            (None, Some(_)) => Action::ApplicationCreated,
            (Some(_), None) => Action::ApplicationDeleted,
            _ => Action::ApplicationChanged,
        };
        let (Some(subject), values) = (change.1.or(change.0), application_values(change)) else { return };
        // The hidden application of operational webhooks is no application of the account.
        if operational::is_hidden(&caller.account) {
            return;
        }
        let subject = Subject { id: &subject.id, name: &subject.name };
        self.record(caller, action, subject, values).await;
    }

    /// Records that a link that previews the App Portal of an application was made.
    pub(crate) async fn record_preview(&self, caller: &Caller, application: &Application) {
        let subject = Subject { id: &application.id, name: &application.name };
        self.record(caller, Action::PortalPreviewed, subject, ChangedValues::default()).await;
    }

    /// Records that an endpoint was created, changed or deleted.
    pub(crate) async fn record_endpoint(&self, caller: &Caller, change: Change<'_, Endpoint>) {
        let action = match change {
            (None, Some(_)) => Action::EndpointCreated,
            (Some(_), None) => Action::EndpointDeleted,
            _ => Action::EndpointChanged,
        };
        let (Some(subject), values) = (change.1.or(change.0), endpoint_values(change)) else { return };
        let name = without_query(&subject.url);
        self.record(caller, action, Subject { id: &subject.id, name: &name }, values).await;
    }

    /// Records that an endpoint got a new signing secret.
    pub(crate) async fn record_rotation(&self, caller: &Caller, endpoint: &Endpoint) {
        let name = without_query(&endpoint.url);
        let subject = Subject { id: &endpoint.id, name: &name };
        self.record(caller, Action::SecretRotated, subject, ChangedValues::default()).await;
    }

    /// Records that an event type was created, changed, archived or deleted.
    pub(crate) async fn record_event_type(&self, caller: &Caller, change: Change<'_, EventType>) {
        let action = match change {
            (None, Some(_)) => Action::EventTypeCreated,
            (Some(_), None) => Action::EventTypeDeleted,
            (Some(old), Some(new)) if new.archived && !old.archived => Action::EventTypeArchived,
            _ => Action::EventTypeChanged,
        };
        let (Some(subject), values) = (change.1.or(change.0), event_type_values(change)) else { return };
        if operational::is_hidden(&caller.account) {
            return;
        }
        self.record(caller, action, Subject { id: &subject.name, name: "" }, values).await;
    }

    /// Records that event types were imported.
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

    /// Records a change that is committed already. The caller gets the change's result even if the entry can't be
    /// written.
    async fn record(&self, caller: &Caller, action: Action, subject: Subject<'_>, values: ChangedValues) {
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
