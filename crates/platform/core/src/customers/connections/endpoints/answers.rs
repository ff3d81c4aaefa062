//! What the provider's answers say of an endpoint. Pure.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Deserialize;
use url::Url;
use uuid::Uuid;

use crate::port::{DeliveryState, EndpointCondition, EndpointFigures, EndpointRecord, EventDelivery, FailedAttempt};

/// Statuses of an attempt, a delivery or a message at one endpoint.
const SUCCESS: u8 = 0;
const FAIL: u8 = 2;
const CANCELLED: u8 = 4;

const ID_BYTES_MAX: usize = 100;
const HOST_CHARS_MAX: usize = 260;
const DESCRIPTION_CHARS_MAX: usize = 100;

/// An endpoint of the application.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndpointBody {
    pub(super) id: String,
    url: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    disabled: bool,
    updated_at: Timestamp,
}

/// An attempt at an endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptBody {
    status: u8,
    #[serde(default)]
    response_status_code: i64,
    timestamp: Timestamp,
}

/// A message with an attempt at an endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageBody {
    #[serde(default)]
    event_id: Option<String>,
    status: u8,
    #[serde(default)]
    next_attempt: Option<Timestamp>,
    timestamp: Timestamp,
}

/// An endpoint that a message was sent to.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DestinationBody {
    id: String,
    status: u8,
    #[serde(default)]
    next_attempt: Option<Timestamp>,
}

/// The statistics of an endpoint.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct StatsBody {
    success: u64,
    fail: u64,
    pending: u64,
    sending: u64,
}

impl EndpointBody {
    /// False for an id that can't stand in a path.
    pub(super) fn is_usable(&self) -> bool {
        is_id(&self.id)
    }

    /// The endpoint with its latest attempts, newest first. `is_complete` says that it has no earlier ones.
    pub(super) fn record(
        &self,
        attempts: &[AttemptBody],
        is_complete: bool,
        before: Option<&EndpointRecord>,
        now: Timestamp,
    ) -> EndpointRecord {
        let ended: Vec<&AttemptBody> =
            attempts.iter().filter(|attempt| matches!(attempt.status, SUCCESS | FAIL)).collect();
        let failed = ended.iter().take_while(|attempt| attempt.status == FAIL);
        let (failures, earliest) = (failed.clone().count(), failed.map(|attempt| attempt.timestamp).min());
        let (mut since, mut may_be_earlier) = (earliest, failures == ended.len() && !is_complete);
        let condition = if self.disabled {
            EndpointCondition::Disabled
        } else if ended.is_empty() {
            EndpointCondition::Unused
        } else if failures > 0 {
            EndpointCondition::Failing
        } else {
            EndpointCondition::Delivering
        };
        let same = before.filter(|before| before.condition == condition);
        match (condition, same) {
            (EndpointCondition::Disabled, same) => {
                since = Some(same.and_then(|before| before.since).unwrap_or(self.updated_at));
                may_be_earlier = false;
            }
            // The attempts that were read do not reach back to the first failure, which an earlier reading knew.
            (EndpointCondition::Failing, Some(before)) if may_be_earlier && before.since < since => {
                (since, may_be_earlier) = (before.since, before.may_be_earlier);
            }
            _ => {}
        }
        let last = |status: u8| ended.iter().find(|attempt| attempt.status == status);
        let last_failure = last(FAIL).map(|attempt| FailedAttempt {
            at: attempt.timestamp,
            status_code: u16::try_from(attempt.response_status_code).unwrap_or(0),
        });
        EndpointRecord {
            id: self.id.clone(),
            host: host(&self.url),
            description: plain(&self.description, DESCRIPTION_CHARS_MAX),
            condition,
            since,
            may_be_earlier,
            last_failure: last_failure.or(before.and_then(|before| before.last_failure)),
            last_success_at: last(SUCCESS)
                .map(|attempt| attempt.timestamp)
                .or(before.and_then(|before| before.last_success_at)),
            figures: before.and_then(|before| before.figures),
            details_read_at: before.and_then(|before| before.details_read_at),
            read_at: now,
        }
    }
}

impl StatsBody {
    pub(super) fn figures(&self, since: Timestamp, read_at: Timestamp) -> EndpointFigures {
        let waiting = self.pending.saturating_add(self.sending);
        EndpointFigures { since, read_at, succeeded: self.success, failed: self.fail, waiting }
    }
}

/// The platform's events among the messages of an endpoint, each once: the newest message of an event counts, which is
/// another one only after a restore.
pub(super) fn deliveries(endpoint: &str, messages: &[MessageBody], now: Timestamp) -> Vec<EventDelivery> {
    let mut seen = HashSet::new();
    let delivery = |message: &MessageBody| {
        let event_id = message.event_id.as_ref()?;
        let (subject, sequence) = event_of(event_id)?;
        seen.insert((subject, sequence)).then(|| EventDelivery {
            subject,
            sequence,
            endpoint: endpoint.to_owned(),
            event_id: event_id.clone(),
            state: state(message.status, message.next_attempt),
            accepted_at: message.timestamp,
            read_at: now,
        })
    };
    messages.iter().filter_map(delivery).collect()
}

/// An event at the endpoints that its message was sent to.
pub(super) fn at_destinations(
    event: &EventDelivery,
    destinations: &[DestinationBody],
    now: Timestamp,
) -> Vec<EventDelivery> {
    let mut seen = HashSet::new();
    let usable = destinations.iter().filter(|destination| is_id(&destination.id));
    let once = usable.filter(|destination| seen.insert(destination.id.as_str()));
    let delivery = |destination: &DestinationBody| EventDelivery {
        endpoint: destination.id.clone(),
        state: state(destination.status, destination.next_attempt),
        read_at: now,
        ..event.clone()
    };
    once.map(delivery).collect()
}

fn state(status: u8, next_attempt: Option<Timestamp>) -> DeliveryState {
    match status {
        SUCCESS => DeliveryState::Delivered,
        FAIL | CANCELLED if next_attempt.is_none() => DeliveryState::Failed,
        _ => DeliveryState::Waiting,
    }
}

/// The event of an `eventId`: `<subject uuid>.<sequence>`, with `.r<number of the restore>` after a restore. None for a
/// message of another sender.
fn event_of(event_id: &str) -> Option<(Uuid, i64)> {
    let mut parts = event_id.split('.');
    let subject = parts.next().filter(|text| text.len() == 36).and_then(|text| Uuid::try_parse(text).ok())?;
    let sequence = parts.next()?.parse().ok().filter(|sequence| *sequence > 0)?;
    let is_restored = |text: &str| text.strip_prefix('r').is_some_and(|number| number.parse::<u32>().is_ok());
    match (parts.next(), parts.next()) {
        (None, _) => Some((subject, sequence)),
        (Some(restore), None) if is_restored(restore) => Some((subject, sequence)),
        _ => None,
    }
}

fn is_id(id: &str) -> bool {
    let is_id_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.bytes().all(is_id_byte)
}

/// Host and port of a URL, without user, path and query.
fn host(url: &str) -> String {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
    match host {
        Some((host, None)) => plain(host, HOST_CHARS_MAX),
        Some((host, Some(port))) => plain(&format!("{host}:{port}"), HOST_CHARS_MAX),
        None => "an unknown host".to_owned(),
    }
}

/// A text of the provider in one line.
fn plain(text: &str, chars_max: usize) -> String {
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    text.trim().chars().take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_793_232_000 + second).unwrap()
    }

    fn endpoint(disabled: bool) -> EndpointBody {
        serde_json::from_value(json!({
            "id": "ep_1", "url": "https://ann:secret@hooks.example.com:8443/secret?token=secret", "description": "Web\u{7} site",
            "disabled": disabled, "updatedAt": at(50).to_string(), "createdAt": at(0).to_string(), "metadata": {},
        }))
        .unwrap()
    }

    /// Attempts, newest first: status, status code, second.
    fn attempts(attempts: &[(u8, i64, i64)]) -> Vec<AttemptBody> {
        let body = |&(status, response_status_code, second)| AttemptBody {
            status,
            response_status_code,
            timestamp: at(second),
        };
        attempts.iter().map(body).collect()
    }

    #[test]
    fn an_endpoint_fails_since_the_first_failure_after_its_last_success() {
        use EndpointCondition::{Delivering, Disabled, Failing, Unused};
        for (disabled, of, is_complete, condition, since, may_be_earlier) in [
            (false, attempts(&[]), true, Unused, None, false),
            (false, attempts(&[(0, 200, 9), (2, 500, 8)]), true, Delivering, None, false),
            (false, attempts(&[(2, 500, 9), (2, 0, 8), (0, 200, 7), (2, 500, 6)]), true, Failing, Some(at(8)), false),
            (false, attempts(&[(3, 0, 10), (4, 0, 10), (2, 500, 9)]), true, Failing, Some(at(9)), false),
            (false, attempts(&[(2, 500, 9), (2, 500, 8)]), false, Failing, Some(at(8)), true),
            (true, attempts(&[(2, 410, 9)]), true, Disabled, Some(at(50)), false),
        ] {
            let record = endpoint(disabled).record(&of, is_complete, None, at(60));
            assert_eq!((record.condition, record.since, record.may_be_earlier), (condition, since, may_be_earlier));
        }
    }

    #[test]
    fn an_earlier_reading_knows_since_when_and_why_an_endpoint_fails() {
        let first = endpoint(false).record(&attempts(&[(2, 503, 5), (0, 200, 4)]), true, None, at(10));
        let later = attempts(&[(2, 500, 40), (2, 500, 39)]);
        let second = endpoint(false).record(&later, false, Some(&first), at(41));
        assert_eq!((second.since, second.may_be_earlier, second.last_success_at), (Some(at(5)), false, Some(at(4))));
        assert_eq!(second.last_failure, Some(FailedAttempt { at: at(40), status_code: 500 }));
        let mended = endpoint(false).record(&attempts(&[(0, 200, 45), (2, 500, 40)]), false, Some(&second), at(46));
        assert_eq!((mended.condition, mended.since), (EndpointCondition::Delivering, None));
        let disabled = endpoint(true).record(&later, false, Some(&second), at(60));
        let still =
            EndpointBody { updated_at: at(70), ..endpoint(true) }.record(&later, false, Some(&disabled), at(71));
        assert_eq!(still.since, Some(at(50)), "an edit of a disabled endpoint changed since when it is disabled");
    }

    #[test]
    fn of_the_url_only_the_host_is_kept() {
        let record = endpoint(false).record(&[], true, None, at(1));
        assert_eq!((record.host.as_str(), record.description.as_str()), ("hooks.example.com:8443", "Web site"));
        assert!(!format!("{record:?}").contains("secret"));
        assert_eq!(host("nothing"), "an unknown host");
    }

    #[test]
    fn messages_of_other_senders_are_left_out_and_the_newest_message_of_an_event_counts() {
        let uuid = Uuid::from_u128(7);
        let message = |event_id: Option<String>, status: u8, next: Option<i64>| MessageBody {
            event_id,
            status,
            next_attempt: next.map(at),
            timestamp: at(1),
        };
        let messages = [
            message(Some(format!("{uuid}.3.r1")), 0, None),
            message(Some(format!("{uuid}.3")), 2, None),
            message(Some(format!("{uuid}.2")), 3, Some(9)),
            message(Some(format!("{uuid}.1")), 2, None),
            message(Some(format!("{uuid}.0")), 0, None),
            message(Some(format!("{uuid}.4.5")), 0, None),
            message(Some("order-17".to_owned()), 0, None),
            message(None, 0, None),
        ];
        let found = deliveries("ep_1", &messages, at(5));
        let states: Vec<_> = found.iter().map(|delivery| (delivery.sequence, delivery.state)).collect();
        use DeliveryState::{Delivered, Failed, Waiting};
        assert_eq!(states, [(3, Delivered), (2, Waiting), (1, Failed)]);
        assert_eq!(found[0].event_id, format!("{uuid}.3.r1"));
    }

    #[test]
    fn a_failed_attempt_with_a_next_one_waits() {
        let destinations: Vec<DestinationBody> = serde_json::from_value(json!([
            {"id": "ep_1", "status": 2, "nextAttempt": at(9).to_string()},
            {"id": "ep_2", "status": 2, "nextAttempt": null},
            {"id": "ep_3", "status": 1},
            {"id": "ep_3", "status": 0},
            {"id": "ep/../x", "status": 0},
        ]))
        .unwrap();
        let event = &deliveries(
            "ep_1",
            &[MessageBody {
                event_id: Some(format!("{}.1", Uuid::from_u128(7))),
                status: 2,
                next_attempt: None,
                timestamp: at(1),
            }],
            at(2),
        )[0];
        let found = at_destinations(event, &destinations, at(5));
        let states: Vec<_> = found.iter().map(|delivery| (delivery.endpoint.as_str(), delivery.state)).collect();
        use DeliveryState::{Failed, Waiting};
        assert_eq!(states, [("ep_1", Waiting), ("ep_2", Failed), ("ep_3", Waiting)]);
    }
}
