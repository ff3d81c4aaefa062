//! `lotwire provider stuck`.

use std::time::Duration;

use kit_runtime::clock::rfc3339_ms;
use provider_core::port::supervision::WaitingCounts;
use provider_core::{Provider, StuckEndpoint, StuckReason};
use serde_json::{Value, json};

use super::{one_line, or_dash, pluralise, print, print_json};
use crate::cli::Stuck as Options;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::NodeServices;

const MINUTE: Duration = Duration::from_secs(60);

pub(super) async fn run(provider: &Provider, services: &NodeServices, options: &Options) -> Result<(), CommandError> {
    let waited = MINUTE.saturating_mul(options.older_than_minutes);
    let before = services.clock.now().checked_sub(waited).context("working out since when")?;
    let stuck =
        provider.list_stuck_endpoints(before, options.limit as usize).await.context("looking for what waits")?;
    if stuck.is_empty() && !options.json {
        print("Nothing waits.");
    }
    for stuck in &stuck {
        if options.json {
            print_json(&view(stuck))?;
        } else {
            print(&describe(stuck));
        }
    }
    Ok(())
}

fn describe(stuck: &StuckEndpoint) -> String {
    let StuckEndpoint { account, endpoint, deliveries, oldest_at, next_at, .. } = stuck;
    let since = or_dash(oldest_at.map(rfc3339_ms));
    let next = next_at.map(|at| format!("; next due {}", rfc3339_ms(at))).unwrap_or_default();
    format!(
        "{}  {deliveries} waiting since {since}\n    {} of {} in {account}\n    {}{next}\n    {}",
        endpoint.id,
        one_line(&endpoint.url),
        endpoint.application,
        reason(stuck),
        parts(stuck),
    )
}

/// What is the matter, in a line.
pub(super) fn reason(stuck: &StuckEndpoint) -> String {
    match &stuck.why {
        StuckReason::Failing { since, code, error } => {
            let last = match (code, error) {
                (_, Some(error)) => format!(", last: {}", one_line(error)),
                (Some(code), None) => format!(", last answer {code}"),
                (None, None) => String::new(),
            };
            format!("failing since {}{last}", rfc3339_ms(*since))
        }
        StuckReason::Disabled => "the endpoint is disabled".to_owned(),
        StuckReason::Paused { until } => format!("the receiver asked to be left alone until {}", rfc3339_ms(*until)),
        StuckReason::Throttled { rate } => {
            format!("sent at {rate} a second, as the endpoint or its application allows")
        }
        StuckReason::Due => "due, and no node has taken them".to_owned(),
        StuckReason::Retry => "to be tried again".to_owned(),
        StuckReason::Later => "wanted later by their sender".to_owned(),
        StuckReason::Claimed => "a node has them in hand".to_owned(),
    }
}

/// How many wait for what, in a line.
pub(super) fn parts(stuck: &StuckEndpoint) -> String {
    let WaitingCounts { claimed, key, due, retry, later } = stuck.waiting_for;
    let keys = match stuck.blocked_keys {
        0 => String::new(),
        blocked => {
            format!(" ({}; `lotwire provider endpoint blocked-keys` says for what)", pluralise(blocked, "key", "keys"))
        }
    };
    let one_before = ("waits for one before it of its ordering key", "wait for one before them of their ordering key");
    let parts = [
        (due, format!("{due} due")),
        (retry, pluralise(retry, "waits for its next attempt", "wait for their next attempt")),
        (key, format!("{}{keys}", pluralise(key, one_before.0, one_before.1))),
        (later, format!("{later} wanted later")),
        (claimed, format!("{claimed} in hand at a node")),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part);
    parts.collect::<Vec<_>>().join(", ")
}

/// The same for programs.
pub(super) fn counts(stuck: &StuckEndpoint) -> Value {
    let WaitingCounts { claimed, key, due, retry, later } = stuck.waiting_for;
    json!({ "due": due, "retry": retry, "orderingKey": key, "later": later, "inHand": claimed })
}

fn view(stuck: &StuckEndpoint) -> Value {
    let (since, code, error) = match &stuck.why {
        StuckReason::Failing { since, code, error } => (Some(rfc3339_ms(*since)), *code, error.as_deref()),
        _ => (None, None, None),
    };
    let paused_until = match &stuck.why {
        StuckReason::Paused { until } => Some(rfc3339_ms(*until)),
        _ => None,
    };
    json!({
        "account": &*stuck.account,
        "application": &*stuck.endpoint.application,
        "endpoint": &*stuck.endpoint.id,
        "url": stuck.endpoint.url,
        "waiting": stuck.deliveries,
        "waitingFor": counts(stuck),
        "blockedKeys": stuck.blocked_keys,
        "oldestAt": stuck.oldest_at.map(rfc3339_ms),
        "nextAt": stuck.next_at.map(rfc3339_ms),
        "why": stuck.why.name(),
        "pausedUntil": paused_until,
        "failingSince": since,
        "lastCode": code,
        "lastError": error,
    })
}
