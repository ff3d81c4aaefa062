//! The arrival log of the receiver, and its comparison with the expected events.

use std::collections::{HashMap, HashSet};

use contract::event::{Event, EventType};
use jiff::Timestamp;
use uuid::Uuid;

/// The first delivery of an event with a valid signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// UUID of the item or auction.
    pub subject: Uuid,
    /// Status name.
    pub status: &'static str,
    /// Time at which the last byte was read, by the receiver's clock.
    pub at: Timestamp,
}

impl Arrival {
    /// The event without its arrival time.
    pub fn event(&self) -> ExpectedEvent {
        ExpectedEvent { subject: self.subject, status: self.status.to_owned() }
    }
}

/// An event that must arrive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpectedEvent {
    /// UUID of the item or auction.
    pub subject: Uuid,
    /// Status name.
    pub status: String,
}

/// Everything that arrived so far.
#[derive(Debug, Default)]
pub struct ArrivalLog {
    messages: HashSet<String>,
    arrivals: Vec<Arrival>,
    duplicates: u64,
    invalid: u64,
}

/// The comparison of an arrival log with the expected events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryReport {
    /// Number of expected events.
    pub expected: u64,
    /// Distinct messages that arrived with a valid signature.
    pub received: u64,
    /// Expected events that did not arrive.
    pub lost: u64,
    /// Further copies of a message with the same id, and events that arrived more often than expected.
    pub duplicates: u64,
    /// Deliveries with an invalid signature, or with a body that is not an event.
    pub invalid: u64,
    /// Subjects whose events arrived in another order than expected.
    pub out_of_order: u64,
}

impl DeliveryReport {
    /// True when each expected event arrived exactly once, valid and in order.
    pub fn is_perfect(&self) -> bool {
        self.received == self.expected && self.lost + self.duplicates + self.invalid + self.out_of_order == 0
    }
}

impl ArrivalLog {
    /// Adds a delivery with a valid signature. Returns the arrival, or none for a further copy of a message and for a
    /// body that is not an event, which counts as invalid.
    pub(crate) fn add(&mut self, message: &str, body: &[u8], at: Timestamp) -> Option<Arrival> {
        if !self.messages.insert(message.to_owned()) {
            self.duplicates += 1;
            return None;
        }
        let Some(event) = parse(body) else {
            self.invalid += 1;
            return None;
        };
        let arrival = Arrival { subject: event.subject(), status: event.status_name(), at };
        self.arrivals.push(arrival);
        Some(arrival)
    }

    /// Counts a delivery with an invalid signature.
    pub(crate) fn count_invalid(&mut self) {
        self.invalid += 1;
    }

    /// First copies in order of arrival.
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// Number of further copies.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Number of invalid deliveries.
    pub fn invalid(&self) -> u64 {
        self.invalid
    }

    /// Compares the log with `expected`, which must be in the order of the status changes for each subject.
    pub fn compare(&self, expected: &[ExpectedEvent]) -> DeliveryReport {
        let mut wanted: HashMap<Uuid, Vec<&str>> = HashMap::new();
        for event in expected {
            wanted.entry(event.subject).or_default().push(&event.status);
        }
        let mut arrived: HashMap<Uuid, Vec<&str>> = HashMap::new();
        for arrival in &self.arrivals {
            arrived.entry(arrival.subject).or_default().push(arrival.status);
        }
        let mut report = DeliveryReport {
            expected: expected.len() as u64,
            received: self.arrivals.len() as u64,
            duplicates: self.duplicates,
            invalid: self.invalid,
            ..DeliveryReport::default()
        };
        for (subject, wanted) in &wanted {
            let arrived = arrived.remove(subject).unwrap_or_default();
            let (missing, extra) = differences(wanted, &arrived);
            report.lost += missing;
            report.duplicates += extra;
            report.out_of_order += u64::from(missing + extra == 0 && *wanted != arrived);
        }
        report.duplicates += arrived.values().map(|extra| extra.len() as u64).sum::<u64>();
        report
    }
}

/// As multisets: how many of `wanted` are missing in `arrived`, and how many of `arrived` are not in `wanted`.
fn differences(wanted: &[&str], arrived: &[&str]) -> (u64, u64) {
    let mut balance: HashMap<&str, i64> = HashMap::new();
    wanted.iter().for_each(|status| *balance.entry(status).or_default() += 1);
    arrived.iter().for_each(|status| *balance.entry(status).or_default() -= 1);
    let missing = balance.values().filter(|count| **count > 0).sum::<i64>();
    let extra = -balance.values().filter(|count| **count < 0).sum::<i64>();
    (missing as u64, extra as u64)
}

/// Parses a body of either type. An item's event has one more field than an auction's, so the body determines the type.
fn parse(body: &[u8]) -> Option<Event> {
    let text = std::str::from_utf8(body).ok()?;
    [EventType::ItemStatusChange, EventType::AuctionStatusChange]
        .into_iter()
        .find_map(|event_type| Event::parse(event_type, text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(subject: Uuid, status: &str) -> String {
        format!(
            r#"{{"itemUuid":"{subject}","auctioneerUuid":"{subject}","auctionUuid":"{subject}","status":"{status}"}}"#
        )
    }

    fn log_of(deliveries: &[(&str, Uuid, &str)]) -> ArrivalLog {
        let mut log = ArrivalLog::default();
        for (message, subject, status) in deliveries {
            log.add(message, body(*subject, status).as_bytes(), Timestamp::UNIX_EPOCH);
        }
        log
    }

    fn expected(events: &[(Uuid, &str)]) -> Vec<ExpectedEvent> {
        events
            .iter()
            .map(|(subject, status)| ExpectedEvent { subject: *subject, status: (*status).to_owned() })
            .collect()
    }

    #[test]
    fn lost_duplicate_and_out_of_order_events_are_counted() {
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let wanted = expected(&[(a, "PASSED"), (a, "LIVE"), (b, "SOLD")]);
        let check = |deliveries: &[(&str, Uuid, &str)], lost, duplicates, out_of_order| {
            let report = log_of(deliveries).compare(&wanted);
            assert_eq!((report.lost, report.duplicates, report.out_of_order), (lost, duplicates, out_of_order));
            assert_eq!(report.is_perfect(), lost + duplicates + out_of_order == 0);
        };
        check(&[("1", a, "PASSED"), ("3", b, "SOLD"), ("2", a, "LIVE")], 0, 0, 0);
        check(&[("1", a, "PASSED"), ("3", b, "SOLD")], 1, 0, 0);
        check(&[("2", a, "LIVE"), ("1", a, "PASSED"), ("3", b, "SOLD")], 0, 0, 1);
        check(&[("1", a, "PASSED"), ("1", a, "PASSED"), ("2", a, "LIVE"), ("3", b, "SOLD")], 0, 1, 0);
        check(&[("1", a, "PASSED"), ("9", a, "PASSED"), ("2", a, "LIVE"), ("3", b, "SOLD")], 0, 1, 0);
        check(&[("1", a, "PASSED"), ("2", a, "LIVE"), ("3", b, "UNSOLD")], 1, 1, 0);
    }

    #[test]
    fn a_body_that_is_not_an_event_is_invalid() {
        let mut log = ArrivalLog::default();
        log.add("1", b"{}", Timestamp::UNIX_EPOCH);
        log.count_invalid();
        assert_eq!((log.invalid(), log.arrivals().len()), (2, 0));
    }
}
