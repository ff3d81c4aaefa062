//! Checks that the endpoints of the embedded provider receive their deliveries.

use std::time::Duration;

use ipnet::IpNet;
use kit_runtime::clock::rfc3339_ms;
use provider_core::model::cause::Cause;
use provider_core::{StuckEndpoint, StuckReason};

use super::CheckResult;
use crate::commands::{pluralise, subnet_remedy};
use crate::config::Config;
use crate::node::{NodeServices, open_provider};

/// A delivery that is due and was not taken for this long fails the check. A node takes it within seconds.
const WAIT_MAX: Duration = Duration::from_secs(60);
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
    let problems: Vec<CheckResult> =
        waiting.iter().filter_map(|stuck| problem(stuck, is_late(stuck), allowed)).map(Err).collect();
    if problems.is_empty() { vec![Ok("no endpoint fails".to_owned())] } else { problems }
}

/// Why an endpoint does not receive its deliveries, and what to do.
fn problem(stuck: &StuckEndpoint, is_late: bool, allowed: &[IpNet]) -> Option<String> {
    let (why, remedy) = match &stuck.why {
        StuckReason::Failing { since, cause, .. } => {
            let last = cause.as_ref().map_or_else(String::new, |cause| {
                format!(", the last one because: {}", cause.sentence_without_response().trim_end_matches('.'))
            });
            let remedy = match cause {
                Some(Cause::PrivateAddress { .. }) => subnet_remedy(allowed),
                _ => "Ask its owner to mend the receiver; the provider tries again until the retries end".to_owned(),
            };
            (format!("every attempt fails since {}{last}", rfc3339_ms(*since)), remedy)
        }
        StuckReason::Disabled => {
            ("the endpoint is disabled and its deliveries are dropped".to_owned(), "Enable it, or delete it".to_owned())
        }
        StuckReason::Paused { until } if is_late => {
            let why = format!("the receiver asked for a pause until {}", rfc3339_ms(*until));
            (why, "`lotwire provider endpoint` can end the pause".to_owned())
        }
        StuckReason::Due if is_late => {
            let remedy = "Check that `lotwire serve` runs with the role provider".to_owned();
            ("no node has taken them".to_owned(), remedy)
        }
        _ => return None,
    };
    let deliveries = pluralise(stuck.deliveries, "delivery waits", "deliveries wait");
    let (id, url) = (&stuck.endpoint.id, &stuck.endpoint.url);
    Some(format!("{id} ({}): {deliveries}: {why}. {remedy}", url.split_whitespace().collect::<String>()))
}
