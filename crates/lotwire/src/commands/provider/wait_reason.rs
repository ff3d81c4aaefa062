//! Phrases for why deliveries wait. `lotwire provider stuck` uses them for an endpoint, and `blocked-keys` for the
//! message that blocks an ordering key.

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use provider_core::endpoints::RateLimits;
use provider_core::{BlockedReason, DeliveryHold, StuckReason};

use super::one_line;

const DISABLED: &str = "the endpoint is disabled, so the dispatcher drops its deliveries when they are due";
const UNCLAIMED: &str = "due, but no node has claimed it";
const CLAIMED: &str = "claimed by a node";

fn paused(until: Timestamp) -> String {
    format!("the receiver asked for a pause until {}", rfc3339_ms(until))
}

fn slowed(until: Option<Timestamp>) -> String {
    let next = until.map(|until| format!("; next at {}", rfc3339_ms(until))).unwrap_or_default();
    format!("attempts timed out or the receiver is overloaded, so the server waits up to 5 s between attempts{next}")
}

fn throttled(limits: RateLimits) -> String {
    format!("held to {}", limits.words())
}

fn of_hold(hold: DeliveryHold) -> String {
    match hold {
        DeliveryHold::Disabled => DISABLED.to_owned(),
        DeliveryHold::Paused { until } => paused(until),
        DeliveryHold::Slowed { until, .. } => slowed(until),
        DeliveryHold::Throttled(limits) => throttled(limits),
    }
}

/// Why the deliveries of an endpoint wait.
pub(super) fn of_endpoint(reason: &StuckReason) -> String {
    match reason {
        StuckReason::Failing { since, code, cause } => {
            let last = match (code, cause) {
                // A status of success does not say why the attempt failed.
                (Some(0 | 200..=299), Some(cause)) => {
                    format!(", last error: {}", one_line(&cause.sentence_without_response()))
                }
                (Some(code), _) => format!(", last status {code}"),
                (None, _) => String::new(),
            };
            format!("failing since {}{last}", rfc3339_ms(*since))
        }
        StuckReason::Held(hold) => of_hold(*hold),
        StuckReason::Due => UNCLAIMED.to_owned(),
        StuckReason::Retry => "waiting for the next attempt".to_owned(),
        StuckReason::Later => "the sender asked for delivery at a later time".to_owned(),
        StuckReason::Claimed => CLAIMED.to_owned(),
    }
}

/// Why the first message of an ordering key waits.
pub(super) fn of_blocked_key(reason: &BlockedReason) -> String {
    match reason {
        BlockedReason::Retry(at) => format!("next attempt at {}", rfc3339_ms(*at)),
        BlockedReason::Later(at) => format!("the sender asked for delivery at {}", rfc3339_ms(*at)),
        BlockedReason::Pause(until) => paused(*until),
        BlockedReason::Slowed(until) => slowed(Some(*until)),
        BlockedReason::Rate(limits) => throttled(*limits),
        BlockedReason::Node => UNCLAIMED.to_owned(),
        BlockedReason::Attempt => CLAIMED.to_owned(),
        BlockedReason::Nothing => DISABLED.to_owned(),
    }
}
