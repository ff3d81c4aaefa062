//! What to do about work that is stuck at an endpoint: `retry-now`, `blocked-keys`, `skip`, `cancel`.

use kit_runtime::clock::rfc3339_ms;
use provider_core::model::Endpoint;
use provider_core::ordering::BLOCKED_MAX;
use provider_core::{BlockedKey, BlockedReason, Caller, OrderingKey, Provider, ProviderError};
use serde_json::json;

use super::{LIST_MAX, one_line, pluralise, print, print_json, resolve};
use crate::cli::{Confirmation, EndpointRef, Skip};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn retry_now(provider: &Provider, name: &EndpointRef) -> Result<(Endpoint, usize), CommandError> {
    let (_, endpoint) = resolve::endpoint(provider, name).await?;
    if endpoint.disabled {
        return Err(CommandError::new(format!(
            "{0} is disabled and receives nothing: `lotwire provider endpoint enable {0}` first",
            endpoint.id
        )));
    }
    let messages = provider.retry_now(&endpoint).await.context(format!("hastening what waits for {}", endpoint.id))?;
    Ok((endpoint, messages))
}

pub(super) async fn cancel(
    provider: &Provider,
    name: &EndpointRef,
    confirmation: &Confirmation,
) -> Result<(Endpoint, usize), CommandError> {
    let (_, endpoint) = resolve::endpoint(provider, name).await?;
    let doing = || format!("giving up on what waits for {}", endpoint.id);
    let waiting = provider.endpoint_backlog(&endpoint).await.context(doing())?.deliveries;
    if waiting == 0 {
        return Ok((endpoint, 0));
    }
    confirmation.ask(|| {
        let waiting = pluralise(waiting, "message that waits", "messages that wait");
        format!("Give up on {waiting} for {} ({})?", endpoint.id, one_line(&endpoint.url))
    })?;
    let messages = provider.cancel_waiting_deliveries(&endpoint).await.context(doing())?;
    Ok((endpoint, messages))
}

/// How many messages something was done about.
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
    print(&format!("{}\n    {} behind {}", blocked.key.as_str(), blocked.waiting, describe_head(blocked)));
}

/// The message that a key waits for, and why.
fn describe_head(blocked: &BlockedKey) -> String {
    let waits_for = match blocked.waits_for {
        BlockedReason::Retry(at) => format!("which is tried again at {}", rfc3339_ms(at)),
        BlockedReason::Later(at) => format!("which its sender wants delivered at {}", rfc3339_ms(at)),
        BlockedReason::Pause(until) => {
            format!("which waits because the receiver asked to be left alone until {}", rfc3339_ms(until))
        }
        BlockedReason::Rate(rate) => format!("which waits for its turn, at {rate} a second"),
        BlockedReason::Node => "which is due, and no node has taken it".to_owned(),
        BlockedReason::Attempt => "which a node has in hand".to_owned(),
        BlockedReason::Nothing => "which is dropped when it comes up, as the endpoint is disabled".to_owned(),
    };
    let since = rfc3339_ms(blocked.since);
    match blocked.attempts {
        0 => format!("{} since {since}, {waits_for}", blocked.message),
        attempts => {
            let times = pluralise(attempts, "time", "times");
            format!("{}, {waits_for}; it has failed {times} since {since}", blocked.message)
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
        let message = options.message.as_deref().map(|message| format!(" for {message}")).unwrap_or_default();
        CommandError::new(format!(
            "the key {:?} doesn't wait{message}: `lotwire provider endpoint blocked-keys {}` lists those that do",
            options.key, endpoint.id
        ))
    };
    let head = found.ok_or_else(missing)?;
    let behind = pluralise(head.waiting, "behind it goes", "behind it go");
    options.confirmation.ask(|| format!("Give up {}, so that {behind} out?", describe_head(&head)))?;
    let skipped = provider.skip_blocked_key(&caller, &endpoint.application, &endpoint.id, &key, &head.message).await;
    match skipped {
        Err(ProviderError::NotFound) => Err(missing()),
        skipped => {
            skipped.context(format!("skipping {}", head.message))?;
            print(&format!("{} was given up; {behind} on.", head.message));
            Ok(())
        }
    }
}
