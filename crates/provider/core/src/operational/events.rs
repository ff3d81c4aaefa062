//! Operational events of an account and their payloads, in the format of the official server.
//!
//! The stores call this in the transaction that causes an event. Pure functions.

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use serde_json::{Value, json};

use crate::model::Attempt;
use crate::model::ordering::OrderingKey;
use crate::port::{AlertEvent, AttemptEvent};

/// The event types of operational webhooks, with their descriptions.
pub const EVENT_TYPES: [(&str, &str); 11] = [
    ("endpoint.created", "An endpoint was created."),
    ("endpoint.updated", "An endpoint was changed."),
    ("endpoint.deleted", "An endpoint was deleted."),
    ("endpoint.disabled", "An endpoint was disabled, by hand or after failing for too long."),
    ("message.attempt.failing", "The fourth attempt to deliver a message failed, and there will be more."),
    ("message.attempt.exhausted", "The last attempt to deliver a message failed."),
    ("message.attempt.recovered", "A message was delivered after it was said to be failing."),
    ("endpoint.failing", "No message was delivered to an endpoint for some time, and attempts failed."),
    ("endpoint.disabling", "An endpoint that fails will be disabled in 24 hours."),
    ("endpoint.recovered", "A message was delivered to an endpoint after it was said to be failing or disabled."),
    ("endpoint.disabled_by_failures", "Failures disabled an endpoint: why, how many attempts failed, and a link."),
];

/// The last of [`EVENT_TYPES`].
pub(crate) const NEWEST_EVENT_TYPE: &str = "endpoint.disabled_by_failures";

/// The endpoint of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject<'a> {
    /// The application.
    pub application: &'a str,
    /// Its uid.
    pub application_uid: Option<&'a str>,
    /// The endpoint.
    pub endpoint: &'a str,
    /// Its uid.
    pub endpoint_uid: Option<&'a str>,
}

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationalEventKind<'a> {
    /// The endpoint was created.
    Created,
    /// The endpoint was changed.
    Updated,
    /// The endpoint was deleted.
    Deleted,
    /// The endpoint was disabled.
    Disabled {
        /// Since when the endpoint had failed.
        fail_since: Option<Timestamp>,
        /// Who disabled it.
        by: DisabledBy,
    },
    /// The owners of the endpoint are alerted.
    Alert(&'a AlertEvent),
    /// An attempt changed the state of a message at the endpoint.
    Attempt {
        /// The new state.
        notice: AttemptEvent,
        /// The attempt.
        attempt: &'a Attempt,
        /// The sender's id of the message.
        event_id: Option<&'a str>,
    },
}

/// Who disabled an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisabledBy {
    /// A person or an API call.
    Caller,
    /// The failures of the endpoint.
    Failures,
}

impl OperationalEventKind<'_> {
    /// Event type and JSON payload; none for [`AttemptEvent::None`].
    pub fn message(&self, subject: Subject<'_>) -> Option<(&'static str, String)> {
        let event_type = self.event_type()?;
        let mut data = json!({"appId": subject.application, "appUid": subject.application_uid});
        match self {
            Self::Attempt { attempt, event_id, .. } => {
                data["msgId"] = json!(&*attempt.message);
                data["msgEventId"] = json!(event_id);
                data["endpointId"] = json!(subject.endpoint);
                data["lastAttempt"] = json!({
                    "id": &*attempt.id,
                    "responseStatusCode": attempt.response_status_code,
                    "timestamp": rfc3339_ms(attempt.at),
                });
            }
            Self::Created | Self::Updated | Self::Deleted | Self::Disabled { .. } | Self::Alert(_) => {
                data["endpointId"] = json!(subject.endpoint);
                data["endpointUid"] = json!(subject.endpoint_uid);
            }
        }
        if let Self::Alert(alert) = self {
            for (name, value) in &alert.details {
                data[name.as_str()] = value.clone();
            }
        }
        if let Self::Disabled { fail_since, by } = self {
            data["failSince"] = json!(fail_since.map(rfc3339_ms));
            data["trigger"] = json!(match by {
                DisabledBy::Caller => "manual",
                DisabledBy::Failures => "automatic",
            });
        }
        Some((event_type, json!({"type": event_type, "data": data}).to_string()))
    }

    fn event_type(&self) -> Option<&'static str> {
        Some(match self {
            Self::Created => "endpoint.created",
            Self::Updated => "endpoint.updated",
            Self::Deleted => "endpoint.deleted",
            Self::Disabled { .. } => "endpoint.disabled",
            Self::Alert(alert) => alert.event_type,
            Self::Attempt { notice: AttemptEvent::None, .. } => return None,
            Self::Attempt { notice: AttemptEvent::Failing, .. } => "message.attempt.failing",
            Self::Attempt { notice: AttemptEvent::Exhausted, .. } => "message.attempt.exhausted",
            Self::Attempt { notice: AttemptEvent::Recovered, .. } => "message.attempt.recovered",
        })
    }
}

/// The ordering key of the events of one endpoint: the endpoint's id.
pub(crate) fn ordering_key(payload: &[u8]) -> Option<OrderingKey> {
    let payload: Value = serde_json::from_slice(payload).ok()?;
    OrderingKey::parse(payload["data"]["endpointId"].as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;

    use super::*;
    use crate::model::{AttemptStatus, AttemptTrigger};

    const SUBJECT: Subject<'_> =
        Subject { application: "app_1", application_uid: Some("a"), endpoint: "ep_1", endpoint_uid: None };

    fn data_of(event: OperationalEventKind<'_>) -> Value {
        let (event_type, payload) = event.message(SUBJECT).unwrap();
        assert!(EVENT_TYPES.iter().any(|(name, _)| *name == event_type), "{event_type}");
        assert_eq!(ordering_key(payload.as_bytes()).unwrap().as_str(), "ep_1");
        let payload: Value = serde_json::from_str(&payload).unwrap();
        assert_eq!(payload["type"], event_type);
        payload["data"].clone()
    }

    #[test]
    fn an_endpoints_events_name_it_and_its_application() {
        let whole = json!({"appId": "app_1", "appUid": "a", "endpointId": "ep_1", "endpointUid": null});
        for event in [OperationalEventKind::Created, OperationalEventKind::Updated, OperationalEventKind::Deleted] {
            assert_eq!(data_of(event), whole);
        }
        let mut disabled = whole;
        disabled["failSince"] = json!("2023-11-14T22:13:20.000Z");
        disabled["trigger"] = json!("automatic");
        let at = Some(from_ms(1_700_000_000_000));
        assert_eq!(data_of(OperationalEventKind::Disabled { fail_since: at, by: DisabledBy::Failures }), disabled);
    }

    #[test]
    fn an_attempts_events_have_the_last_attempt() {
        let attempt = Attempt {
            id: "atmpt_1".into(),
            message: "msg_1".into(),
            endpoint: "ep_1".into(),
            application: "app_1".into(),
            url: String::new(),
            status: AttemptStatus::Fail,
            response_status_code: 500,
            response: String::new(),
            failure_detail: None,
            response_headers: String::new(),
            times: None,
            response_duration_ms: 1,
            trigger: AttemptTrigger::Scheduled,
            at: from_ms(1_700_000_000_000),
        };
        let of = |notice| OperationalEventKind::Attempt { notice, attempt: &attempt, event_id: Some("i.1") };
        for notice in [AttemptEvent::Failing, AttemptEvent::Exhausted, AttemptEvent::Recovered] {
            let whole = json!({"appId": "app_1", "appUid": "a", "msgId": "msg_1", "msgEventId": "i.1", "endpointId": "ep_1",
                "lastAttempt": {"id": "atmpt_1", "responseStatusCode": 500, "timestamp": "2023-11-14T22:13:20.000Z"}});
            assert_eq!(data_of(of(notice)), whole);
        }
        assert_eq!(of(AttemptEvent::None).message(SUBJECT), None);
    }
}
