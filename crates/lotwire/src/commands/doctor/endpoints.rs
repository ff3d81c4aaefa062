//! Checks that the endpoints of the embedded provider receive their deliveries.

use std::collections::BTreeSet;
use std::time::Duration;

use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::rfc3339_ms;
use provider_core::model::Id;
use provider_core::model::cause::{Cause, CauseClass};
use provider_core::{DeliveryHold, EndedRetries, StuckEndpoint, StuckReason};

use super::CheckResult;
use crate::commands::{pluralise, subnet_remedy};
use crate::config::Config;
use crate::node::{NodeServices, open_provider};

/// A delivery that is due and was not taken for this long fails the check. A node takes it within seconds.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// A recovery reaches back at most this far.
const RECOVERABLE: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Problems that are each named on a line of their own. More are grouped by kind and cause.
const LINES_MAX: usize = 5;
/// Endpoints that the line of a group names.
const NAMED_MAX: usize = 5;

/// An endpoint that does not receive its deliveries.
struct Problem {
    /// What is wrong and what to do.
    line: String,
    kind: Kind,
    cause: Option<CauseGroup>,
    /// Messages that wait or were not delivered.
    messages: u64,
    /// Id and URL.
    endpoint: String,
    application: Id,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failing,
    Disabled,
    Paused,
    Slowed,
    Due,
    /// Messages from this time can be recovered.
    Ended {
        since: Timestamp,
    },
}

/// Causes with one remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CauseGroup {
    /// The address is private, which the operator may allow.
    Private,
    Class(CauseClass),
}

fn group_of_cause(cause: Option<&Cause>) -> Option<CauseGroup> {
    cause.map(|cause| match cause {
        Cause::PrivateAddress { .. } => CauseGroup::Private,
        cause => CauseGroup::Class(CauseClass::of(cause)),
    })
}

impl Problem {
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind) && self.cause == other.cause
    }
}

/// A line for each problem, or for each group of like problems if there are many.
fn grouped(problems: Vec<Problem>, allowed: &[IpNet]) -> Vec<String> {
    if problems.len() <= LINES_MAX {
        return problems.into_iter().map(|problem| problem.line).collect();
    }
    let mut groups: Vec<Vec<Problem>> = Vec::new();
    for problem in problems {
        match groups.iter_mut().find(|group| group.iter().any(|like| like.is_like(&problem))) {
            Some(group) => group.push(problem),
            None => groups.push(vec![problem]),
        }
    }
    groups.into_iter().map(|group| line_of_group(group, allowed)).collect()
}

fn line_of_group(mut group: Vec<Problem>, allowed: &[IpNet]) -> String {
    if group.len() == 1 {
        return group.swap_remove(0).line;
    }
    let (kind, cause) = (group[0].kind, group[0].cause);
    let messages = group.iter().map(|problem| problem.messages).sum::<u64>();
    let applications: BTreeSet<&Id> = group.iter().map(|problem| &problem.application).collect();
    let named: Vec<&str> = group.iter().take(NAMED_MAX).map(|problem| problem.endpoint.as_str()).collect();
    let list = if matches!(kind, Kind::Ended { .. }) {
        "the dashboard's page Endpoints lists those that fail"
    } else {
        "`lotwire provider stuck` lists them all"
    };
    let more = match group.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more: {list}"),
    };
    let last = match cause {
        None => String::new(),
        Some(CauseGroup::Private) => ", the last one because the address is private".to_owned(),
        Some(CauseGroup::Class(class)) => format!(", the last one with: {}", class.words()),
    };
    let mend = match cause {
        Some(CauseGroup::Private) => subnet_remedy(allowed),
        _ => "Ask their owners to mend the receivers".to_owned(),
    };
    let deliveries = pluralise(messages, "delivery waits", "deliveries wait");
    let (what, remedy) = match kind {
        Kind::Failing => (
            format!("{deliveries}: every attempt fails{last}"),
            format!("{mend}; the provider tries again until the retries end"),
        ),
        Kind::Disabled => (
            format!("{deliveries}: the endpoints are disabled and their deliveries are dropped"),
            "`lotwire provider endpoint enable EP` enables one, `… delete EP` deletes it".to_owned(),
        ),
        Kind::Paused => (
            format!("{deliveries}: the receivers asked for a pause"),
            "`lotwire provider endpoint retry-now EP` ends the pause of one".to_owned(),
        ),
        Kind::Slowed => (
            format!(
                "{deliveries}: attempts time out or the receivers are overloaded, so the server waits between attempts"
            ),
            "Ask their owners to answer faster".to_owned(),
        ),
        Kind::Due => (
            format!("{deliveries}: they are due, and no node has taken them yet"),
            "If this lasts, check that `lotwire serve` runs with the role provider".to_owned(),
        ),
        Kind::Ended { .. } => {
            let since = group.iter().filter_map(|problem| match problem.kind {
                Kind::Ended { since } => Some(since),
                _ => None,
            });
            let since = since.min().map(rfc3339_ms).unwrap_or_default();
            let failed = pluralise(
                messages,
                "message has failed, and its retries have ended",
                "messages have failed, and their retries have ended",
            );
            (
                format!("{failed}: every attempt fails{last}"),
                format!("{mend}, then run `lotwire provider endpoint recover EP --since {since}` for each"),
            )
        }
    };
    let of = pluralise(applications.len() as u64, "application", "applications");
    format!("{} endpoints of {of}: {what}. {remedy}. They are {}{more}", group.len(), named.join(", "))
}

/// One finding if all endpoints receive their deliveries; otherwise one for each that does not, or one for each group of them.
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
    let mut problems: Vec<Problem> =
        waiting.iter().filter_map(|stuck| problem(stuck, is_late(stuck), allowed)).collect();
    let ended = provider.list_ended_retries().await;
    problems.extend(ended.iter().flatten().map(|ended| ended_retries(ended, now, allowed)));
    let mut findings: Vec<CheckResult> = grouped(problems, allowed).into_iter().map(Err).collect();
    findings.extend(ended.err().map(|error| Err(error.to_string())));
    if findings.is_empty() { vec![Ok("no endpoint fails".to_owned())] } else { findings }
}

/// The messages of an endpoint that are not attempted again, and the command that sends them.
fn ended_retries(ended: &EndedRetries, now: Timestamp, allowed: &[IpNet]) -> Problem {
    let (id, url) = (&ended.endpoint.id, one_line(&ended.endpoint.url));
    let messages = pluralise(
        ended.messages,
        "message has failed, and its retries have ended",
        "messages have failed, and their retries have ended",
    );
    let recovered_since = ended.since.max(now - RECOVERABLE);
    let since = rfc3339_ms(recovered_since);
    let mend = match &ended.cause {
        Some(Cause::PrivateAddress { .. }) => subnet_remedy(allowed),
        _ => "Ask its owner to mend the receiver".to_owned(),
    };
    Problem {
        line: format!(
            "{id} ({url}): {messages}: every attempt fails since {}{}. {mend}, then run \
             `lotwire provider endpoint recover {id} --since {since}`",
            rfc3339_ms(ended.since),
            last_cause(ended.cause.as_ref()),
        ),
        kind: Kind::Ended { since: recovered_since },
        cause: group_of_cause(ended.cause.as_ref()),
        messages: ended.messages,
        endpoint: format!("{id} ({url})"),
        application: ended.endpoint.application.clone(),
    }
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
fn problem(stuck: &StuckEndpoint, is_late: bool, allowed: &[IpNet]) -> Option<Problem> {
    let mut cause_group = None;
    let (kind, (why, remedy)) = match &stuck.why {
        StuckReason::Failing { since, cause, .. } => {
            let last = last_cause(cause.as_ref());
            let remedy = match cause {
                Some(Cause::PrivateAddress { .. }) => subnet_remedy(allowed),
                _ => "Ask its owner to mend the receiver; the provider tries again until the retries end".to_owned(),
            };
            cause_group = group_of_cause(cause.as_ref());
            (Kind::Failing, (format!("every attempt fails since {}{last}", rfc3339_ms(*since)), remedy))
        }
        StuckReason::Held(DeliveryHold::Disabled) => {
            let remedy = format!(
                "`lotwire provider endpoint enable {0}` enables it, `… delete {0}` deletes it",
                stuck.endpoint.id
            );
            (Kind::Disabled, ("the endpoint is disabled and its deliveries are dropped".to_owned(), remedy))
        }
        StuckReason::Held(DeliveryHold::Paused { until }) if is_late => {
            let why = format!("the receiver asked for a pause until {}", rfc3339_ms(*until));
            (Kind::Paused, (why, format!("`lotwire provider endpoint retry-now {}` ends the pause", stuck.endpoint.id)))
        }
        StuckReason::Held(DeliveryHold::Slowed { .. }) if is_late => {
            let why = "attempts time out or the receiver is overloaded, so the server waits up to 5 s between attempts";
            (Kind::Slowed, (why.to_owned(), "Ask its owner to answer faster".to_owned()))
        }
        StuckReason::Due if is_late => {
            let remedy = "If this lasts, check that `lotwire serve` runs with the role provider".to_owned();
            (Kind::Due, ("they are due, and no node has taken them yet".to_owned(), remedy))
        }
        _ => return None,
    };
    let deliveries = pluralise(stuck.deliveries, "delivery waits", "deliveries wait");
    let endpoint = format!("{} ({})", stuck.endpoint.id, one_line(&stuck.endpoint.url));
    Some(Problem {
        line: format!("{endpoint}: {deliveries}: {why}. {remedy}"),
        kind,
        cause: cause_group,
        messages: stuck.deliveries as u64,
        endpoint,
        application: stuck.endpoint.application.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(number: usize, class: CauseClass) -> Problem {
        Problem {
            line: format!("ep_{number}: alone"),
            kind: Kind::Failing,
            cause: Some(CauseGroup::Class(class)),
            messages: 3,
            endpoint: format!("ep_{number} (https://example.com/{number})"),
            application: format!("app_{}", number % 2).as_str().into(),
        }
    }

    #[test]
    fn up_to_five_endpoints_have_a_line_each_and_more_a_line_for_each_cause() {
        let few = (0..5).map(|number| failing(number, CauseClass::Timeout)).collect();
        assert_eq!(grouped(few, &[]), (0..5).map(|number| format!("ep_{number}: alone")).collect::<Vec<_>>());

        let mut many: Vec<Problem> = (0..24).map(|number| failing(number, CauseClass::Timeout)).collect();
        many.insert(3, failing(90, CauseClass::Tls));
        let lines = grouped(many, &[]);
        assert_eq!(lines.len(), 2, "{lines:?}");
        let start = "24 endpoints of 2 applications: 72 deliveries wait: every attempt fails, the last one with: No response \
                     in time. Ask their owners to mend the receivers; ";
        assert!(lines[0].starts_with(start), "{}", lines[0]);
        let end = "They are ep_0 (https://example.com/0), ep_1 (https://example.com/1), ep_2 (https://example.com/2), ep_3 \
                   (https://example.com/3), ep_4 (https://example.com/4), and 19 more: `lotwire provider stuck` lists them all";
        assert!(lines[0].ends_with(end), "{}", lines[0]);
        assert_eq!(lines[1], "ep_90: alone");
    }

    #[test]
    fn endpoints_whose_retries_have_ended_are_recovered_from_the_earliest_failure() {
        let ended = |number: usize| Problem {
            kind: Kind::Ended { since: Timestamp::from_second(1_800_000_000 - number as i64).unwrap() },
            ..failing(number, CauseClass::Server)
        };
        let waiting = failing(9, CauseClass::Server);
        let lines = grouped((0..6).map(ended).chain([waiting]).collect(), &[]);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("18 messages have failed, and their retries have ended"), "{}", lines[0]);
        assert!(lines[0].contains("recover EP --since 2027-01-15T07:59:55.000Z` for each"), "{}", lines[0]);
        assert!(lines[0].ends_with("and 1 more: the dashboard's page Endpoints lists those that fail"), "{}", lines[0]);
        assert_eq!(lines[1], "ep_9: alone");
    }
}
