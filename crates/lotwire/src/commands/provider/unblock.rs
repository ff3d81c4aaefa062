//! Runs the commands that release, repeat or cancel deliveries: `retry-now`, `recover`, `blocked-keys`, `skip` and `cancel`.

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use provider_core::model::{Endpoint, TaskKind};
use provider_core::ordering::BLOCKED_MAX;
use provider_core::{BlockedKey, Caller, Created, OrderingKey, Provider, ProviderError, ReplayInput};
use serde_json::json;

use super::{LIST_MAX, one_line, pluralise, print, print_json, resolve, wait_reason};
use crate::cli::{Confirmation, EndpointRef, Skip};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn retry_now(provider: &Provider, name: &EndpointRef) -> Result<(Endpoint, usize), CommandError> {
    let (caller, endpoint) = resolve::endpoint(provider, name).await?;
    refuse_disabled(&endpoint)?;
    let retried = provider.retry_now(&caller, &endpoint).await;
    let messages = retried.context(format!("making the retries of {} due", endpoint.id))?;
    Ok((endpoint, messages))
}

/// Stores a task that sends the endpoint's failed messages since a time again. Returns the endpoint and the task's id.
pub(super) async fn recover(
    provider: &Provider,
    name: &EndpointRef,
    since: Timestamp,
) -> Result<(Endpoint, String), CommandError> {
    let (caller, endpoint) = resolve::endpoint(provider, name).await?;
    refuse_disabled(&endpoint)?;
    let input = ReplayInput::time_range(TaskKind::Recover, since, None);
    let begun = provider.replay(&caller, &endpoint.application, &endpoint.id, input, None, |_| String::new()).await;
    match begun.context(format!("recovering {}", endpoint.id))? {
        Created::New(task) | Created::Existing(task) => Ok((endpoint, task.id.to_string())),
        Created::Replayed(_) => Err(CommandError::new("the provider replayed an earlier answer")),
    }
}

fn refuse_disabled(endpoint: &Endpoint) -> Result<(), CommandError> {
    if endpoint.disabled {
        return Err(CommandError::new(format!(
            "endpoint {0} is disabled. To deliver to it, run `lotwire provider endpoint enable {0}` first",
            endpoint.id
        )));
    }
    Ok(())
}

pub(super) async fn cancel(
    provider: &Provider,
    name: &EndpointRef,
    confirmation: &Confirmation,
) -> Result<(Endpoint, usize), CommandError> {
    let (caller, endpoint) = resolve::endpoint(provider, name).await?;
    let doing = || format!("cancelling the waiting deliveries of {}", endpoint.id);
    let waiting = provider.endpoint_backlog(&endpoint).await.context(doing())?.deliveries;
    if waiting == 0 {
        return Ok((endpoint, 0));
    }
    confirmation.ask(|| {
        let waiting = pluralise(waiting, "waiting delivery", "waiting deliveries");
        format!("Cancel {waiting} for {} ({})?", endpoint.id, one_line(&endpoint.url))
    })?;
    let messages = provider.cancel_waiting_deliveries(&caller, &endpoint).await.context(doing())?;
    Ok((endpoint, messages))
}

/// Prints the number of affected messages as JSON.
pub(super) fn print_count(endpoint: &Endpoint, messages: usize) -> Result<(), CommandError> {
    print_json(&json!({ "endpoint": &*endpoint.id, "messages": messages }))
}

pub(super) async fn list_blocked(provider: &Provider, name: &EndpointRef) -> Result<Vec<BlockedKey>, CommandError> {
    let (caller, endpoint) = resolve::endpoint(provider, name).await?;
    blocked(provider, &caller, &endpoint).await
}

async fn blocked(provider: &Provider, caller: &Caller, endpoint: &Endpoint) -> Result<Vec<BlockedKey>, CommandError> {
    let (mut found, mut after) = (Vec::<BlockedKey>::new(), None::<String>);
    while found.len() < LIST_MAX {
        let page =
            provider.blocked_keys(caller, &endpoint.application, &endpoint.id, after.as_deref(), BLOCKED_MAX).await;
        let (page, done) = page.context(format!("listing the blocked keys of {}", endpoint.id))?;
        found.extend(page);
        after = found.last().map(|last| last.key.as_str().to_owned());
        if done {
            break;
        }
    }
    Ok(found)
}

pub(super) fn show_blocked(blocked: &BlockedKey) {
    print(&format!("{}\n    {} waiting behind {}", blocked.key.as_str(), blocked.waiting, describe_head(blocked)));
}

/// The message that blocks a key, and why it waits.
fn describe_head(blocked: &BlockedKey) -> String {
    let why = wait_reason::of_blocked_key(&blocked.waits_for);
    let since = rfc3339_ms(blocked.since);
    match blocked.attempts {
        0 => format!("{} since {since}: {why}", blocked.message),
        attempts => {
            let attempts = pluralise(attempts, "failed attempt", "failed attempts");
            format!("{} since {since}, after {attempts}: {why}", blocked.message)
        }
    }
}

pub(super) fn print_blocked(blocked: &BlockedKey) -> Result<(), CommandError> {
    print_json(&json!({
        "key": blocked.key.as_str(),
        "message": &*blocked.message,
        "reason": blocked.waits_for.name(),
        "attempts": blocked.attempts,
        "since": rfc3339_ms(blocked.since),
        "nextAttempt": blocked.waits_for.until().map(rfc3339_ms),
        "waiting": blocked.waiting,
    }))
}

pub(super) async fn skip(provider: &Provider, options: &Skip) -> Result<(), CommandError> {
    let (caller, endpoint) = resolve::endpoint(provider, &options.endpoint).await?;
    let key = OrderingKey::parse(&options.key).context("reading --key")?;
    let found = blocked(provider, &caller, &endpoint).await?.into_iter().find(|blocked| blocked.key == key);
    let found = found.filter(|blocked| options.message.as_deref().is_none_or(|message| *blocked.message == *message));
    let missing = || {
        let message = options.message.as_deref().map(|message| format!(" by {message}")).unwrap_or_default();
        CommandError::new(format!(
            "the key {:?} is not blocked{message}. `lotwire provider endpoint blocked-keys {}` lists the blocked keys",
            options.key, endpoint.id
        ))
    };
    let head = found.ok_or_else(missing)?;
    let behind = pluralise(head.waiting, "message behind it", "messages behind it");
    options
        .confirmation
        .ask(|| format!("Skip {}, so that delivery continues with the {behind}?", describe_head(&head)))?;
    let skipped = provider.skip_blocked_key(&caller, &endpoint.application, &endpoint.id, &key, &head.message).await;
    match skipped {
        Err(ProviderError::NotFound) => Err(missing()),
        skipped => {
            skipped.context(format!("skipping {}", head.message))?;
            print(&format!("{} was skipped. Delivery continues with the {behind}.", head.message));
            Ok(())
        }
    }
}
