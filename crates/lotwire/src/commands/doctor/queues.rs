//! Checks that every customer's publishing queue makes progress.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use platform_core::customers::connections::{ConnectionState, ConsumerState};
use platform_core::port::{Customer, Page};
use platform_core::{Caller, Platform, PlatformError};

use super::CheckResult;
use crate::commands::{pluralise, publishing_state};
use crate::config::Config;
use crate::node::{NodeServices, open_platform};

/// A queue whose oldest event has waited longer than this fails the check. Publishing normally takes milliseconds, and
/// another node takes over within ten seconds.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// Customers read from the store in one page.
const PAGE: usize = 250;
/// Maximum number of listed queues. After repairing these, the operator finds the others with the next run.
const LISTED_MAX: usize = 20;

/// One finding if all queues make progress, otherwise one for each queue that does not.
pub(super) async fn check(config: &Config, services: &NodeServices) -> Vec<CheckResult> {
    match check_all(config, services).await {
        Ok(findings) => findings,
        Err(error) => vec![Err(error)],
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
        stuck.push(Ok(format!("{connected}, and no queue is stuck")));
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

/// Why a customer's events do not reach its provider, and what to do about it.
fn problem(customer: &Customer, state: &ConsumerState, now: Timestamp) -> Option<String> {
    let waiting = publishing_state::waiting(state);
    let is_late = state.backlog.oldest_at.is_some_and(|oldest_at| oldest_at < now - WAIT_MAX);
    let (connection, since, detail) = state.state();
    let (since, detail) = (rfc3339_ms(since), detail.unwrap_or_default());
    let remedy = || publishing_state::remedy(state);
    let provider = publishing_state::provider(state);
    let stuck = match (connection, publishing_state::last_error(state)) {
        (ConnectionState::Entered, _) if !state.is_complete() => Some(
            "its connection is incomplete, so nothing is published. Enter the application and the API key with \
             `lotwire customer connect`"
                .to_owned(),
        ),
        (ConnectionState::Parked, _) => {
            Some(format!("{waiting}: the queue is parked since {since}: {detail}. {}", remedy()))
        }
        (ConnectionState::Refused, _) => Some(format!("{provider} refuses since {since}: {detail}. {}", remedy())),
        (ConnectionState::Unreachable, _) => {
            Some(format!("{waiting}: {provider} is unreachable since {since}: {detail}. {}", remedy()))
        }
        (_, Some(error)) => Some(format!("{waiting}: {error}. {}", remedy())),
        (_, None) if is_late => {
            Some(format!("{waiting}: none was tried. Check that `lotwire serve` runs with the role platform"))
        }
        (_, None) => None,
    };
    let found: Vec<String> = stuck.into_iter().chain(publishing_state::quarantined(state)).collect();
    (!found.is_empty()).then(|| format!("{} ({}): {}", customer.name, customer.uuid, found.join(". Also, ")))
}
