//! Customers whose events don't get to their provider.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use platform_core::consumers::ConsumerState;
use platform_core::port::{Customer, Page};
use platform_core::{Caller, Platform, PlatformError};

use super::CheckResult;
use crate::commands::pluralise;
use crate::config::Config;
use crate::node::{NodeServices, open_platform};

/// An event that waits longer than this is told; publishing takes milliseconds.
const WAIT_MAX: Duration = Duration::from_secs(60);
const PAGE: usize = 250;
/// Queues that are told; whoever mends so many finds the others with the next look.
const LISTED_MAX: usize = 20;

/// One finding when all queues move, else one for each that doesn't.
pub(super) async fn check(config: &Config, services: &NodeServices) -> Vec<CheckResult> {
    match check_all(config, services).await {
        Ok(findings) => findings,
        Err(what) => vec![Err(what)],
    }
}

async fn check_all(config: &Config, services: &NodeServices) -> Result<Vec<CheckResult>, String> {
    let platform = open_platform(config, services).await.map_err(|error| error.to_string())?;
    let support = Caller::command_line();
    let (mut connected, mut stuck) = (0_usize, Vec::new());
    let mut after = None;
    loop {
        let page = Page { after, limit: PAGE };
        let customers = platform.customers(&support, page).await.map_err(|error| error.to_string())?;
        let Some(last) = customers.last().map(|customer| customer.uuid) else { break };
        for customer in customers {
            let Some(state) = connection(&platform, &support, &customer).await? else { continue };
            connected += 1;
            let found = problem(&customer, &state, services.clock.now());
            stuck.extend(found.filter(|_| stuck.len() < LISTED_MAX).map(Err));
        }
        after = Some(last);
    }
    if stuck.is_empty() {
        let connected = pluralise(connected, "connected customer", "connected customers");
        stuck.push(Ok(format!("of {connected} no event is held up")));
    }
    Ok(stuck)
}

async fn connection(
    platform: &Platform,
    support: &Caller,
    customer: &Customer,
) -> Result<Option<ConsumerState>, String> {
    match platform.consumer(support, customer.uuid).await {
        Ok(state) => Ok(Some(state)),
        Err(PlatformError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// What holds a customer's queue up, and what to do about it.
fn problem(customer: &Customer, state: &ConsumerState, now: Timestamp) -> Option<String> {
    let (uuid, backlog) = (customer.uuid, &state.backlog);
    let mut found = Vec::new();
    let is_late = backlog.oldest_at.is_some_and(|oldest_at| oldest_at < now - WAIT_MAX);
    if let Some(parked) = &state.parked {
        found.push(format!(
            "its queue of {} is parked since {}: {}; mend that at {}, or `lotwire customer connect` anew, then \
             lotwire customer resume {uuid}",
            pluralise(backlog.pending, "event", "events"),
            rfc3339_ms(parked.at),
            parked.reason,
            state.provider_url
        ));
    } else if is_late {
        found.push(late(state));
    }
    if backlog.quarantined > 0 {
        found.push(format!(
            "the provider refused {} for good; see why with GET /api/v1/customers/{uuid}/consumer/quarantine",
            pluralise(backlog.quarantined, "event", "events")
        ));
    }
    (!found.is_empty()).then(|| format!("{} ({uuid}): {}", customer.name, found.join(". Also, ")))
}

fn late(state: &ConsumerState) -> String {
    let ConsumerState { customer, backlog, provider_url, .. } = state;
    let oldest = backlog.oldest_at.map(rfc3339_ms).unwrap_or_default();
    let waits = format!("{}, the oldest since {oldest}", pluralise(backlog.pending, "event waits", "events wait"));
    match &backlog.failing {
        Some(failing) => format!(
            "{waits}; last error, at {}: {}; mend that at {provider_url}, or `lotwire customer connect` anew, then lotwire \
             customer resume {customer}",
            rfc3339_ms(failing.at),
            failing.error
        ),
        None => format!("{waits}, and none was tried; does `lotwire serve` run with the role platform?"),
    }
}
