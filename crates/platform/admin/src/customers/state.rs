//! A customer's connection in words.

use jiff::Timestamp;
use kit_design::relative_time::RelativeTime;
use platform_core::customers::connections::{ConnectionState, ConsumerState};
use platform_core::port::ProviderAddress;

/// A connection in one line of a list.
pub(crate) struct ConnectionLine {
    /// Class of the status: `good`, `bad`, `wait`, or empty.
    pub(crate) kind: &'static str,
    pub(crate) word: &'static str,
    /// What is wrong, after a number.
    pub(crate) task: &'static str,
    pub(crate) provider: String,
    /// How many events wait, and since when.
    pub(crate) waiting: String,
    pub(crate) quarantined: u64,
    /// Something has to be done.
    pub(crate) needs_support: bool,
}

impl ConnectionLine {
    pub(crate) fn new(state: Option<&ConsumerState>, now: Timestamp) -> Self {
        let Some(state) = state else {
            let (provider, waiting) = ("–".to_owned(), "0".to_owned());
            let (word, needs_support) = ("Not connected", true);
            let task = "customer is not connected";
            return Self { kind: "wait", word, task, provider, waiting, quarantined: 0, needs_support };
        };
        let (kind, word) = words(state);
        let backlog = &state.backlog;
        let waiting = match backlog.oldest_at {
            Some(at) if backlog.pending > 0 => format!("{}, for {}", backlog.pending, age(at, now)),
            _ => backlog.pending.to_string(),
        };
        Self {
            kind,
            word,
            task: task(word),
            provider: provider(&state.provider),
            waiting,
            quarantined: backlog.quarantined,
            needs_support: kind != "good" || backlog.quarantined > 0,
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
        ConnectionState::Working => "The provider accepted the last request.",
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
