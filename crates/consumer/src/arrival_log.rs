//! The record of what arrived, and how it is held against what was expected.

use std::collections::{HashMap, HashSet};

use contract::event::{Event, EventType};
use jiff::Timestamp;
use uuid::Uuid;

/// A delivery whose signature was valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Item or auction.
    pub subject: Uuid,
    /// Status name.
    pub status: &'static str,
    /// When its last byte was read, by the receiver's clock.
    pub at: Timestamp,
}

impl Arrival {
    /// The event without how and when it came.
    pub fn event(&self) -> ExpectedEvent {
        ExpectedEvent { subject: self.subject, status: self.status.to_owned() }
    }
}

/// An event that has to arrive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExpectedEvent {
    /// Item or auction.
    pub subject: Uuid,
    /// Status name.
    pub status: String,
}

/// Everything that arrived so far.
#[derive(Debug, Default)]
pub struct ArrivalLog {
    seen: HashSet<String>,
    arrivals: Vec<Arrival>,
    duplicates: u64,
    invalid: u64,
}

/// How a record compares to what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryReport {
    /// Events that had to arrive.
    pub expected: u64,
    /// Distinct messages that arrived with a valid signature.
    pub received: u64,
    /// ExpectedEvent and not there.
    pub lost: u64,
    /// Further copies of a message, by its id; and events that arrived more often than expected.
    pub duplicates: u64,
    /// Bad signatures, and bodies that are no event.
    pub invalid: u64,
    /// Subjects whose events arrived in another order than they happened.
    pub out_of_order: u64,
}

impl DeliveryReport {
    /// True when each expected event arrived, once, valid and in order.
    pub fn is_perfect(&self) -> bool {
        self.received == self.expected && self.lost + self.duplicates + self.invalid + self.out_of_order == 0
    }
}

impl ArrivalLog {
    /// Adds a delivery with a valid signature and gives what is new of it; one whose body is no event counts as invalid.
    pub(crate) fn add(&mut self, message: &str, body: &[u8], at: Timestamp) -> Option<Arrival> {
        if !self.seen.insert(message.to_owned()) {
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

    /// Counts a delivery that can't be believed.
    pub(crate) fn count_invalid(&mut self) {
        self.invalid += 1;
    }

    /// First copies, in the order in which they arrived.
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// Further copies so far.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Deliveries that were not believed.
    pub fn invalid(&self) -> u64 {
        self.invalid
    }

    /// Holds the record against `expected`, which is in the order in which things happened for each subject.
    pub fn compare(&self, expected: &[ExpectedEvent]) -> DeliveryReport {
        let mut wanted: HashMap<Uuid, Vec<&str>> = HashMap::new();
        for event in expected {
            wanted.entry(event.subject).or_default().push(&event.status);
        }
        let mut arrived: HashMap<Uuid, Vec<&str>> = HashMap::new();
        for arrival in &self.arrivals {
            arrived.entry(arrival.subject).or_default().push(arrival.status);
        }
        let mut tally = DeliveryReport {
            expected: expected.len() as u64,
            received: self.arrivals.len() as u64,
            duplicates: self.duplicates,
            invalid: self.invalid,
            ..DeliveryReport::default()
        };
        for (subject, wanted) in &wanted {
            let arrived = arrived.remove(subject).unwrap_or_default();
            let (missing, extra) = differences(wanted, &arrived);
            tally.lost += missing;
            tally.duplicates += extra;
            tally.out_of_order += u64::from(missing + extra == 0 && *wanted != arrived);
        }
        tally.duplicates += arrived.values().map(|extra| extra.len() as u64).sum::<u64>();
        tally
    }
}

/// How many of `wanted` are missing from `arrived`, and how many of `arrived` are over, as multisets.
fn differences(wanted: &[&str], arrived: &[&str]) -> (u64, u64) {
    let mut balance: HashMap<&str, i64> = HashMap::new();
    wanted.iter().for_each(|status| *balance.entry(status).or_default() += 1);
    arrived.iter().for_each(|status| *balance.entry(status).or_default() -= 1);
    let missing = balance.values().filter(|count| **count > 0).sum::<i64>();
    let extra = -balance.values().filter(|count| **count < 0).sum::<i64>();
    (missing as u64, extra as u64)
}

/// An item's event has one field more than an auction's, so a body says by itself what it is.
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

    fn record(deliveries: &[(&str, Uuid, &str)]) -> ArrivalLog {
        let mut record = ArrivalLog::default();
        for (message, subject, status) in deliveries {
            record.add(message, body(*subject, status).as_bytes(), Timestamp::UNIX_EPOCH);
        }
        record
    }

    fn expected(events: &[(Uuid, &str)]) -> Vec<ExpectedEvent> {
        events
            .iter()
            .map(|(subject, status)| ExpectedEvent { subject: *subject, status: (*status).to_owned() })
            .collect()
    }

    #[test]
    fn what_is_lost_doubled_invalid_or_out_of_order_is_counted() {
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let wanted = expected(&[(a, "PASSED"), (a, "LIVE"), (b, "SOLD")]);
        let check = |deliveries: &[(&str, Uuid, &str)], lost, duplicates, out_of_order| {
            let tally = record(deliveries).tally(&wanted);
            assert_eq!((tally.lost, tally.duplicates, tally.out_of_order), (lost, duplicates, out_of_order));
            assert_eq!(tally.is_perfect(), lost + duplicates + out_of_order == 0);
        };
        check(&[("1", a, "PASSED"), ("3", b, "SOLD"), ("2", a, "LIVE")], 0, 0, 0);
        check(&[("1", a, "PASSED"), ("3", b, "SOLD")], 1, 0, 0);
        check(&[("2", a, "LIVE"), ("1", a, "PASSED"), ("3", b, "SOLD")], 0, 0, 1);
        check(&[("1", a, "PASSED"), ("1", a, "PASSED"), ("2", a, "LIVE"), ("3", b, "SOLD")], 0, 1, 0);
        check(&[("1", a, "PASSED"), ("9", a, "PASSED"), ("2", a, "LIVE"), ("3", b, "SOLD")], 0, 1, 0);
        check(&[("1", a, "PASSED"), ("2", a, "LIVE"), ("3", b, "UNSOLD")], 1, 1, 0);
    }

    #[test]
    fn a_body_that_is_no_event_is_invalid() {
        let mut record = ArrivalLog::default();
        record.add("1", b"{}", Timestamp::UNIX_EPOCH);
        record.count_invalid();
        assert_eq!((record.invalid(), record.arrivals().len()), (2, 0));
    }
}
