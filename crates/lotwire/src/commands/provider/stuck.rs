//! Runs `lotwire provider stuck`: lists endpoints with waiting deliveries.

use std::time::Duration;

use kit_runtime::clock::rfc3339_ms;
use provider_core::port::WaitingCounts;
use provider_core::{Provider, StuckEndpoint, StuckReason};
use serde_json::{Value, json};

use super::{one_line, or_dash, pluralise, print, print_json, wait_reason};
use crate::cli::Stuck as Options;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::NodeServices;

const MINUTE: Duration = Duration::from_secs(60);

pub(super) async fn run(provider: &Provider, services: &NodeServices, options: &Options) -> Result<(), CommandError> {
    let waited = MINUTE.saturating_mul(options.older_than_minutes);
    let before = services.clock.now().checked_sub(waited).context("computing the earliest time")?;
    let stuck = provider
        .list_stuck_endpoints(before, options.limit as usize)
        .await
        .context("listing the waiting deliveries")?;
    if stuck.is_empty() && !options.json {
        print("No delivery waits.");
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
        "{}  {deliveries} waiting, the oldest since {since}\n    {} of {} in {account}\n    {}{next}\n    {}",
        endpoint.id,
        one_line(&endpoint.url),
        endpoint.application,
        wait_reason::of_endpoint(&stuck.why),
        parts(stuck),
    )
}

/// How many deliveries wait for what, on one line.
pub(super) fn parts(stuck: &StuckEndpoint) -> String {
    let WaitingCounts { claimed, key, due, retry, later } = stuck.waiting_for;
    let keys = match stuck.blocked_keys {
        0 => String::new(),
        blocked => {
            format!(" ({}; see `lotwire provider endpoint blocked-keys`)", pluralise(blocked, "key", "keys"))
        }
    };
    let parts = [
        (due, format!("{due} due")),
        (retry, pluralise(retry, "waits for the next attempt", "wait for the next attempt")),
        (key, format!("{key} behind an earlier message of the ordering key{keys}")),
        (later, format!("{later} to be delivered later")),
        (claimed, format!("{claimed} claimed by a node")),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part);
    parts.collect::<Vec<_>>().join(", ")
}

/// How many deliveries wait for what, as JSON.
pub(super) fn counts(stuck: &StuckEndpoint) -> Value {
    let WaitingCounts { claimed, key, due, retry, later } = stuck.waiting_for;
    json!({ "due": due, "retry": retry, "orderingKey": key, "later": later, "inHand": claimed })
}

fn view(stuck: &StuckEndpoint) -> Value {
    let (since, code, cause) = match &stuck.why {
        StuckReason::Failing { since, code, cause } => (Some(rfc3339_ms(*since)), *code, cause.as_ref()),
        _ => (None, None, None),
    };
    let error = cause.filter(|_| matches!(code, Some(0 | 200..=299))).map(|cause| cause.sentence_without_response());
    let paused_until = match &stuck.why {
        StuckReason::Held(hold) => hold.until().map(rfc3339_ms),
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
