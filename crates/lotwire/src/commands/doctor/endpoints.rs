//! Checks that the endpoints of the embedded provider receive their deliveries.

use std::time::Duration;

use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::rfc3339_ms;
use provider_core::model::cause::Cause;
use provider_core::{DeliveryHold, EndedRetries, StuckEndpoint, StuckReason};

use super::CheckResult;
use crate::commands::{pluralise, subnet_remedy};
use crate::config::Config;
use crate::node::{NodeServices, open_provider};

/// A delivery that is due and was not taken for this long fails the check. A node takes it within seconds.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// A recovery reaches back at most this far.
const RECOVERABLE: SignedDuration = SignedDuration::from_hours(14 * 24);

/// One finding if all endpoints receive their deliveries, otherwise one for each that does not.
pub(super) async fn check(config: &Config, services: &NodeServices) -> Vec<CheckResult> {
    let provider = match open_provider(config, services).await {
        Ok(provider) => provider,
        Err(error) => return vec![Err(error.to_string())],
    };
    let now = services.clock.now();
    let waiting = match provider.list_stuck_endpoints(now, usize::MAX).await {
        Ok(waiting) => waiting,
        Err(error) => return vec![Err(error.to_string())],
    };
    let is_late = |stuck: &StuckEndpoint| stuck.oldest_at.is_some_and(|oldest_at| oldest_at < now - WAIT_MAX);
    let allowed = &config.provider.allow_subnets;
    let mut problems: Vec<CheckResult> =
        waiting.iter().filter_map(|stuck| problem(stuck, is_late(stuck), allowed)).map(Err).collect();
    match provider.list_ended_retries().await {
        Ok(ended) => problems.extend(ended.iter().map(|ended| Err(ended_retries(ended, now, allowed)))),
        Err(error) => problems.push(Err(error.to_string())),
    }
    if problems.is_empty() { vec![Ok("no endpoint fails".to_owned())] } else { problems }
}

/// The messages of an endpoint that are not attempted again, and the command that sends them.
fn ended_retries(ended: &EndedRetries, now: Timestamp, allowed: &[IpNet]) -> String {
    let (id, url) = (&ended.endpoint.id, one_line(&ended.endpoint.url));
    let messages = pluralise(
        ended.messages,
        "message has failed, and its retries have ended",
        "messages have failed, and their retries have ended",
    );
    let since = rfc3339_ms(ended.since.max(now - RECOVERABLE));
    let mend = match &ended.cause {
        Some(Cause::PrivateAddress { .. }) => subnet_remedy(allowed),
        _ => "Ask its owner to mend the receiver".to_owned(),
    };
    format!(
        "{id} ({url}): {messages}: every attempt fails since {}{}. {mend}, then run \
         `lotwire provider endpoint recover {id} --since {since}`",
        rfc3339_ms(ended.since),
        last_cause(ended.cause.as_ref()),
    )
}

/// Why the last attempt failed, for the end of a sentence.
fn last_cause(cause: Option<&Cause>) -> String {
    cause.map_or_else(String::new, |cause| {
        format!(", the last one because: {}", cause.sentence_without_response().trim_end_matches('.'))
    })
}

fn one_line(url: &str) -> String {
    url.split_whitespace().collect()
}

/// Why an endpoint does not receive its deliveries, and what to do.
fn problem(stuck: &StuckEndpoint, is_late: bool, allowed: &[IpNet]) -> Option<String> {
    let (why, remedy) = match &stuck.why {
        StuckReason::Failing { since, cause, .. } => {
            let last = last_cause(cause.as_ref());
            let remedy = match cause {
                Some(Cause::PrivateAddress { .. }) => subnet_remedy(allowed),
                _ => "Ask its owner to mend the receiver; the provider tries again until the retries end".to_owned(),
            };
            (format!("every attempt fails since {}{last}", rfc3339_ms(*since)), remedy)
        }
        StuckReason::Held(DeliveryHold::Disabled) => {
            let remedy = format!(
                "`lotwire provider endpoint enable {0}` enables it, `… delete {0}` deletes it",
                stuck.endpoint.id
            );
            ("the endpoint is disabled and its deliveries are dropped".to_owned(), remedy)
        }
        StuckReason::Held(DeliveryHold::Paused { until }) if is_late => {
            let why = format!("the receiver asked for a pause until {}", rfc3339_ms(*until));
            (why, format!("`lotwire provider endpoint retry-now {}` ends the pause", stuck.endpoint.id))
        }
        StuckReason::Held(DeliveryHold::Slowed { .. }) if is_late => {
            let why = "attempts time out or the receiver is overloaded, so the server waits up to 5 s between attempts";
            (why.to_owned(), "Ask its owner to answer faster".to_owned())
        }
        StuckReason::Due if is_late => {
            let remedy = "If this lasts, check that `lotwire serve` runs with the role provider".to_owned();
            ("they are due, and no node has taken them yet".to_owned(), remedy)
        }
        _ => return None,
    };
    let deliveries = pluralise(stuck.deliveries, "delivery waits", "deliveries wait");
    let (id, url) = (&stuck.endpoint.id, &stuck.endpoint.url);
    Some(format!("{id} ({}): {deliveries}: {why}. {remedy}", one_line(url)))
}
