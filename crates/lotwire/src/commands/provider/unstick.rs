//! What to do about work that is stuck at an endpoint: `retry-now`, `blocked-keys`, `skip`, `cancel`.

use kit_runtime::clock::rfc3339_ms;
use provider_core::model::Endpoint;
use provider_core::ordering::BLOCKED_MAX;
use provider_core::{Caller, KeyWaitsFor, OrderingKey, Provider, ProviderError, WaitingKey};
use serde_json::json;

use super::{LIST_MAX, count_of, find, one_line, print, print_json};
use crate::cli::{Confirmed, EndpointName, Skip};
use crate::fault::{Fault, While as _};

pub(super) async fn retry_now(provider: &Provider, name: &EndpointName) -> Result<(Endpoint, usize), Fault> {
    let (_, endpoint) = find::endpoint(provider, name).await?;
    if endpoint.disabled {
        return Err(Fault::new(format!(
            "{0} is disabled and receives nothing: `lotwire provider endpoint enable {0}` first",
            endpoint.id
        )));
    }
    let messages = provider.retry_now(&endpoint).await.while_(format!("hastening what waits for {}", endpoint.id))?;
    Ok((endpoint, messages))
}

pub(super) async fn cancel(
    provider: &Provider,
    name: &EndpointName,
    confirmed: &Confirmed,
) -> Result<(Endpoint, usize), Fault> {
    let (_, endpoint) = find::endpoint(provider, name).await?;
    let doing = || format!("giving up on what waits for {}", endpoint.id);
    let waiting = provider.endpoint_backlog(&endpoint).await.while_(doing())?.deliveries;
    if waiting == 0 {
        return Ok((endpoint, 0));
    }
    confirmed.ask(|| {
        let waiting = count_of(waiting, "message that waits", "messages that wait");
        format!("Give up on {waiting} for {} ({})?", endpoint.id, one_line(&endpoint.url))
    })?;
    let messages = provider.give_up_waiting(&endpoint).await.while_(doing())?;
    Ok((endpoint, messages))
}

/// How many messages something was done about.
pub(super) fn print_count(endpoint: &Endpoint, messages: usize) -> Result<(), Fault> {
    print_json(&json!({ "endpoint": &*endpoint.id, "messages": messages }))
}

pub(super) async fn list_blocked(provider: &Provider, name: &EndpointName) -> Result<Vec<WaitingKey>, Fault> {
    let (caller, endpoint) = find::endpoint(provider, name).await?;
    blocked(provider, &caller, &endpoint).await
}

async fn blocked(provider: &Provider, caller: &Caller, endpoint: &Endpoint) -> Result<Vec<WaitingKey>, Fault> {
    let (mut found, mut after) = (Vec::<WaitingKey>::new(), None::<String>);
    while found.len() < LIST_MAX {
        let page =
            provider.blocked_keys(caller, &endpoint.application, &endpoint.id, after.as_deref(), BLOCKED_MAX).await;
        let (page, done) = page.while_(format!("listing the blocked keys of {}", endpoint.id))?;
        found.extend(page);
        after = found.last().map(|last| last.key.as_str().to_owned());
        if done {
            break;
        }
    }
    Ok(found)
}

pub(super) fn show_blocked(blocked: &WaitingKey) {
    print(&format!("{}\n    {} behind {}", blocked.key.as_str(), blocked.waiting, standing(blocked)));
}

/// The message that a key waits for, and why.
fn standing(blocked: &WaitingKey) -> String {
    let waits_for = match blocked.waits_for {
        KeyWaitsFor::Retry(at) => format!("which is tried again at {}", rfc3339_ms(at)),
        KeyWaitsFor::Later(at) => format!("which its sender wants delivered at {}", rfc3339_ms(at)),
        KeyWaitsFor::Pause(until) => {
            format!("which waits because the receiver asked to be left alone until {}", rfc3339_ms(until))
        }
        KeyWaitsFor::Rate(rate) => format!("which waits for its turn, at {rate} a second"),
        KeyWaitsFor::Node => "which is due, and no node has taken it".to_owned(),
        KeyWaitsFor::Attempt => "which a node has in hand".to_owned(),
        KeyWaitsFor::Nothing => "which is dropped when it comes up, as the endpoint is disabled".to_owned(),
    };
    let since = rfc3339_ms(blocked.since);
    match blocked.attempts {
        0 => format!("{} since {since}, {waits_for}", blocked.message),
        attempts => {
            let times = count_of(attempts, "time", "times");
            format!("{}, {waits_for}; it has failed {times} since {since}", blocked.message)
        }
    }
}

pub(super) fn print_blocked(blocked: &WaitingKey) -> Result<(), Fault> {
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

pub(super) async fn skip(provider: &Provider, options: &Skip) -> Result<(), Fault> {
    let (caller, endpoint) = find::endpoint(provider, &options.endpoint).await?;
    let key = OrderingKey::parse(&options.key).while_("reading --key")?;
    let found = blocked(provider, &caller, &endpoint).await?.into_iter().find(|blocked| blocked.key == key);
    let found = found.filter(|blocked| options.message.as_deref().is_none_or(|message| *blocked.message == *message));
    let missing = || {
        let message = options.message.as_deref().map(|message| format!(" for {message}")).unwrap_or_default();
        Fault::new(format!(
            "the key {:?} doesn't wait{message}: `lotwire provider endpoint blocked-keys {}` lists those that do",
            options.key, endpoint.id
        ))
    };
    let head = found.ok_or_else(missing)?;
    let behind = count_of(head.waiting, "behind it goes", "behind it go");
    options.confirmed.ask(|| format!("Give up {}, so that {behind} out?", standing(&head)))?;
    let skipped = provider.skip_blocked_key(&caller, &endpoint.application, &endpoint.id, &key, &head.message).await;
    match skipped {
        Err(ProviderError::NotFound) => Err(missing()),
        skipped => {
            skipped.while_(format!("skipping {}", head.message))?;
            print(&format!("{} was given up; {behind} on.", head.message));
            Ok(())
        }
    }
}
