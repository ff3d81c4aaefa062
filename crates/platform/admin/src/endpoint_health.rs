//! What a customer's endpoints do, in words: as the platform last read it, with the time at which it did.

use jiff::Timestamp;
use kit_design::error_page::sentence;
use kit_design::relative_time::RelativeTime;
use platform_core::customers::connections::endpoints::{
    EndpointCondition, EndpointReading, EndpointRecord, FailedAttempt, ReadingOutcome,
};

use crate::sale::labels::{Badge, count};

/// What the endpoints of a customer do together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// They were never read; why the last reading failed, if it did.
    NotRead(Option<String>),
    /// The API key may not read them.
    NoRight,
    /// The application has none.
    NoEndpoint,
    /// None fails, and none is disabled.
    Delivering(Count),
    /// Some fail or are disabled.
    Hindered(Hindered),
}

/// The endpoints that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) all: usize,
    /// True when the application has more.
    pub(crate) has_more: bool,
}

/// Endpoints that fail or are disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hindered {
    pub(crate) count: Count,
    pub(crate) failing: usize,
    /// Since when the first of those that fail has failed.
    pub(crate) failing_since: Option<Timestamp>,
    /// Why the one that failed last did.
    pub(crate) cause: Option<String>,
    pub(crate) disabled: usize,
    pub(crate) disabled_since: Option<Timestamp>,
}

impl Health {
    pub(crate) fn of(reading: Option<&EndpointReading>) -> Self {
        let Some(reading) = reading else { return Self::NotRead(None) };
        if reading.read_at.is_none() {
            return match reading.outcome {
                ReadingOutcome::NoRight => Self::NoRight,
                _ => Self::NotRead(reading.detail.as_deref().map(sentence)),
            };
        }
        let count = Count { all: reading.endpoints.len(), has_more: reading.has_more };
        let those = |condition| reading.endpoints.iter().filter(move |endpoint| endpoint.condition == condition);
        let (failing, disabled) = (those(EndpointCondition::Failing), those(EndpointCondition::Disabled));
        let (failing_count, disabled_count) = (failing.clone().count(), disabled.clone().count());
        if count.all == 0 && !count.has_more {
            return Self::NoEndpoint;
        }
        if failing_count + disabled_count == 0 {
            return Self::Delivering(count);
        }
        let latest = failing.clone().filter_map(|endpoint| endpoint.last_failure).max_by_key(|failure| failure.at);
        Self::Hindered(Hindered {
            count,
            failing: failing_count,
            failing_since: failing.filter_map(|endpoint| endpoint.since).min(),
            cause: latest.map(cause),
            disabled: disabled_count,
            disabled_since: disabled.filter_map(|endpoint| endpoint.since).min(),
        })
    }

    /// True when a person has to do something for events to arrive.
    pub(crate) fn needs_support(&self) -> bool {
        matches!(self, Self::NoEndpoint | Self::Hindered(_))
    }

    /// The state of a connection that works, as far as its endpoints are known to hinder deliveries.
    pub(crate) fn badge(&self) -> Option<Badge> {
        match self {
            Self::NoEndpoint => Some(Badge::new("wait", "No endpoint")),
            Self::Hindered(hindered) if hindered.failing > 0 => Some(Badge::new("bad", "Not delivering")),
            Self::Hindered(_) => Some(Badge::new("bad", "Endpoint disabled")),
            Self::NotRead(_) | Self::NoRight | Self::Delivering(_) => None,
        }
    }
}

impl Count {
    /// `2 endpoints`, or `the first 50 endpoints`.
    pub(crate) fn words(self) -> String {
        let words = count(self.all as u64, "endpoint", "endpoints");
        if self.has_more { format!("the first {words}") } else { words }
    }
}

impl Hindered {
    /// `1 of 2 endpoints fails`, with the number apart; none when none fails.
    pub(crate) fn failing_words(&self) -> Option<String> {
        let verb = if self.failing == 1 { "fails" } else { "fail" };
        (self.failing > 0).then(|| format!("of {} {verb}", self.count.words()))
    }

    /// `1 of 2 endpoints is disabled`, with the number apart; none when none is.
    pub(crate) fn disabled_words(&self) -> Option<String> {
        let verb = if self.disabled == 1 { "is" } else { "are" };
        (self.disabled > 0).then(|| format!("of {} {verb} disabled", self.count.words()))
    }
}

/// Why an attempt failed.
pub(crate) fn cause(failure: FailedAttempt) -> String {
    match failure.status_code {
        0 => "no response".to_owned(),
        code => format!("the receiver answered {code}"),
    }
}

/// An endpoint with what it does.
pub(crate) struct EndpointRow {
    /// The customer's words for it, or its host.
    pub(crate) name: String,
    /// Its host, if the name is another text.
    pub(crate) host: Option<String>,
    pub(crate) badge: Badge,
    /// Since when it fails or is disabled.
    pub(crate) since: Option<RelativeTime>,
    /// True when it may have failed before that time, too.
    pub(crate) may_be_earlier: bool,
    /// The cause and time of its last failure.
    pub(crate) last_failure: Option<(String, RelativeTime)>,
    pub(crate) last_success: Option<RelativeTime>,
    pub(crate) figures: Option<FiguresRow>,
}

/// The statistics of an endpoint.
pub(crate) struct FiguresRow {
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) waiting: u64,
    pub(crate) read_at: RelativeTime,
}

impl EndpointRow {
    fn new(endpoint: &EndpointRecord, now: Timestamp) -> Self {
        let time = |at| RelativeTime::new(at, now);
        let (name, host) = match endpoint.description.as_str() {
            "" => (endpoint.host.clone(), None),
            description => (description.to_owned(), Some(endpoint.host.clone())),
        };
        Self {
            name,
            host,
            badge: match endpoint.condition {
                EndpointCondition::Delivering => Badge::new("good", "Delivering"),
                EndpointCondition::Failing => Badge::new("bad", "Failing"),
                EndpointCondition::Disabled => Badge::new("off", "Disabled"),
                EndpointCondition::Unused => Badge::new("", "No attempt yet"),
            },
            since: endpoint.since.map(|since| RelativeTime::lasting(since, now)),
            may_be_earlier: endpoint.may_be_earlier,
            last_failure: endpoint.last_failure.map(|failure| (cause(failure), time(failure.at))),
            last_success: endpoint.last_success_at.map(time),
            figures: endpoint.figures.map(|figures| FiguresRow {
                succeeded: figures.succeeded,
                failed: figures.failed,
                waiting: figures.waiting,
                read_at: time(figures.read_at),
            }),
        }
    }
}

/// The endpoints of a customer, those that need support first.
pub(crate) fn endpoint_rows(reading: &EndpointReading, now: Timestamp) -> Vec<EndpointRow> {
    let rank = |endpoint: &EndpointRecord| match endpoint.condition {
        EndpointCondition::Failing => 0,
        EndpointCondition::Disabled => 1,
        EndpointCondition::Delivering => 2,
        EndpointCondition::Unused => 3,
    };
    let mut endpoints: Vec<&EndpointRecord> = reading.endpoints.iter().collect();
    endpoints.sort_by_key(|endpoint| (rank(endpoint), endpoint.since));
    endpoints.into_iter().map(|endpoint| EndpointRow::new(endpoint, now)).collect()
}

/// Why the endpoints that are shown may not be those of now; none while readings succeed.
pub(crate) fn reading_fault(reading: &EndpointReading) -> Option<String> {
    let detail = reading.detail.as_deref().unwrap_or_default();
    match reading.outcome {
        ReadingOutcome::Read | ReadingOutcome::Never => None,
        ReadingOutcome::NoRight => Some(format!(
            "The API key can't read the endpoints: {detail}. Events are published all the same, if the key may send them."
        )),
        ReadingOutcome::Failed => {
            Some(format!("The last reading failed: {detail}. The platform reads again by itself."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_795_242_483 + second).unwrap()
    }

    fn endpoint(id: &str, condition: EndpointCondition, since: Option<i64>) -> EndpointRecord {
        EndpointRecord {
            id: id.to_owned(),
            host: format!("{id}.example.com"),
            description: String::new(),
            condition,
            since: since.map(at),
            may_be_earlier: false,
            last_failure: since.map(|since| FailedAttempt { at: at(since), status_code: 500 }),
            last_success_at: None,
            figures: None,
            details_read_at: None,
            read_at: at(90),
        }
    }

    fn reading(outcome: ReadingOutcome, endpoints: Vec<EndpointRecord>) -> EndpointReading {
        EndpointReading {
            customer: uuid::Uuid::from_u128(1),
            outcome,
            outcome_since: None,
            detail: Some("the provider answered 403".to_owned()),
            tried_at: None,
            read_at: (outcome == ReadingOutcome::Read).then(|| at(90)),
            has_more: false,
            endpoints,
        }
    }

    #[test]
    fn the_words_say_how_many_of_which_endpoints_fail_and_since_when() {
        use EndpointCondition::{Delivering, Disabled, Failing, Unused};
        let endpoints = vec![
            endpoint("a", Delivering, None),
            endpoint("b", Failing, Some(60)),
            endpoint("c", Disabled, Some(10)),
            endpoint("d", Failing, Some(30)),
        ];
        let found = reading(ReadingOutcome::Read, endpoints);
        let Health::Hindered(hindered) = Health::of(Some(&found)) else { panic!("{found:?}") };
        assert_eq!(hindered.failing_words().as_deref(), Some("of 4 endpoints fail"));
        assert_eq!(hindered.disabled_words().as_deref(), Some("of 4 endpoints is disabled"));
        assert_eq!((hindered.failing_since, hindered.disabled_since), (Some(at(30)), Some(at(10))));
        assert_eq!(hindered.cause.as_deref(), Some("the receiver answered 500"));
        let rows: Vec<String> = endpoint_rows(&found, at(90)).into_iter().map(|row| row.name).collect();
        assert_eq!(rows, ["d.example.com", "b.example.com", "c.example.com", "a.example.com"]);

        let health = |outcome, endpoints| Health::of(Some(&reading(outcome, endpoints)));
        assert_eq!(health(ReadingOutcome::Read, Vec::new()), Health::NoEndpoint);
        assert_eq!(health(ReadingOutcome::NoRight, Vec::new()), Health::NoRight);
        let unused = vec![endpoint("a", Unused, None)];
        assert_eq!(health(ReadingOutcome::Read, unused), Health::Delivering(Count { all: 1, has_more: false }));
        assert_eq!(Health::of(None), Health::NotRead(None));
        assert_eq!(Count { all: 50, has_more: true }.words(), "the first 50 endpoints");
        let fault = reading_fault(&reading(ReadingOutcome::NoRight, Vec::new())).unwrap();
        assert!(fault.starts_with("The API key can't read the endpoints: the provider answered 403."), "{fault}");
    }
}
