//! A customer's connection in words.

use jiff::Timestamp;
use kit_design::relative_time::RelativeTime;
use platform_core::customers::connections::endpoints::EndpointReading;
use platform_core::customers::connections::{ConnectionState, ConsumerState};
use platform_core::port::ProviderAddress;

use crate::endpoint_health::Health;

/// A connection in one line of a list.
pub(crate) struct ConnectionLine {
    /// Class of the status: `good`, `bad`, `wait`, or empty.
    pub(crate) kind: &'static str,
    pub(crate) word: &'static str,
    /// The problem of the connection, as a text that follows a number; empty if the connection works.
    pub(crate) task: &'static str,
    /// What its endpoints do.
    pub(crate) health: Health,
    /// When they were last read.
    pub(crate) read_at: Option<Timestamp>,
    pub(crate) provider: String,
    /// How many events wait, and since when.
    pub(crate) waiting: String,
    pub(crate) quarantined: u64,
    /// Something has to be done.
    pub(crate) needs_support: bool,
}

impl ConnectionLine {
    pub(crate) fn new(state: Option<&ConsumerState>, reading: Option<&EndpointReading>, now: Timestamp) -> Self {
        let (health, read_at) = (Health::of(reading), reading.and_then(|reading| reading.read_at));
        let Some(state) = state else {
            let (provider, waiting) = ("–".to_owned(), "0".to_owned());
            let (word, needs_support) = ("Not connected", true);
            let task = "customer is not connected";
            let kind = "wait";
            return Self { kind, word, task, health, read_at, provider, waiting, quarantined: 0, needs_support };
        };
        let (mut kind, mut word) = words(state);
        let task = if kind == "good" { "" } else { task(word) };
        // What hinders deliveries behind a connection that works is what a person has to see.
        if let Some(badge) = health.badge().filter(|_| kind == "good") {
            (kind, word) = (badge.kind(), badge.words());
        }
        let backlog = &state.backlog;
        let waiting = match backlog.oldest_at {
            Some(at) if backlog.pending > 0 => format!("{}, for {}", backlog.pending, age(at, now)),
            _ => backlog.pending.to_string(),
        };
        Self {
            kind,
            word,
            task,
            provider: provider(&state.provider),
            waiting,
            quarantined: backlog.quarantined,
            needs_support: kind != "good" || health.needs_support() || backlog.quarantined > 0,
            health,
            read_at,
        }
    }
}

/// Class and word of a connection's state.
pub(crate) fn words(state: &ConsumerState) -> (&'static str, &'static str) {
    if !state.is_complete() {
        return ("wait", "Incomplete");
    }
    match state.state().0 {
        ConnectionState::Entered => ("wait", "Not tested"),
        ConnectionState::Working => ("good", "Working"),
        ConnectionState::Refused => ("bad", "Refused"),
        ConnectionState::Parked => ("bad", "Parked"),
        ConnectionState::Unreachable => ("bad", "Unreachable"),
    }
}

fn task(word: &str) -> &'static str {
    match word {
        "Incomplete" => "connection is incomplete",
        "Not tested" => "connection was never tested",
        "Refused" => "connection is refused",
        "Parked" => "queue is parked",
        _ => "provider is unreachable",
    }
}

/// What the state means, and what to do.
pub(crate) fn advice(state: &ConsumerState) -> &'static str {
    match state.state().0 {
        ConnectionState::Entered if !state.is_complete() => "",
        ConnectionState::Entered => {
            "No request has shown yet that the provider accepts the application and the key. Test the connection."
        }
        ConnectionState::Working => {
            "The provider accepts events. Whether the customer's endpoints receive them is shown below."
        }
        ConnectionState::Refused => {
            "The provider refuses the application or the key. Correct them, then test the connection."
        }
        ConnectionState::Parked => {
            "The provider refused an event for the cause below, so all events wait. Correct the cause, then test and resume."
        }
        ConnectionState::Unreachable => {
            "The provider does not answer or is out of order. The platform tries again by itself."
        }
    }
}

/// The provider in words.
pub(crate) fn provider(address: &ProviderAddress) -> String {
    match address {
        ProviderAddress::Embedded => "Embedded".to_owned(),
        ProviderAddress::Url(url) => url.clone(),
    }
}

/// A time span in its largest unit.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> String {
    RelativeTime::new(at, now).words().trim_end_matches(" ago").to_owned()
}
