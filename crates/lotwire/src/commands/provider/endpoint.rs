//! Runs `lotwire provider endpoint`.

use kit_runtime::clock::rfc3339_ms;
use provider_core::model::Endpoint;
use provider_core::page::CursorKey;
use provider_core::{Caller, Provider, Switch, ids};
use serde_json::{Value, json};

use super::{all, hint, one_line, pluralise, print, print_json, resolve, stuck, unblock, wait_reason};
use crate::cli::{EndpointRemoval, ProviderEndpoint};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn run(provider: &Provider, command: &ProviderEndpoint) -> Result<(), CommandError> {
    match command {
        ProviderEndpoint::List { application, account, json } => {
            let (account, application) = resolve::application(provider, account.as_deref(), application).await?;
            let caller = Caller::operator(&account);
            let list = async |page: &_| provider.list_endpoints(&caller, &application.id, page).await;
            let endpoints = all(CursorKey::Id(ids::ENDPOINT), "listing the endpoints", list).await?;
            if endpoints.is_empty() {
                hint(&format!("Application {} has no endpoint.", application.id));
            }
            for endpoint in endpoints {
                if *json {
                    print_json(&view(&endpoint))?;
                } else {
                    print(&format!("{}  {:<8}  {}", endpoint.id, state(&endpoint), one_line(&endpoint.url)));
                }
            }
        }
        ProviderEndpoint::Show { endpoint, json } => {
            let (caller, endpoint) = resolve::endpoint(provider, endpoint).await?;
            let backlog = provider.endpoint_backlog(&endpoint).await.context("counting the waiting deliveries")?;
            let stuck = provider.stuck_endpoint(&endpoint).await.context("finding out why deliveries wait")?;
            if *json {
                let mut view = view(&endpoint);
                view["account"] = json!(&*caller.account);
                view["waiting"] = json!(backlog.deliveries);
                view["oldestAt"] = json!(backlog.oldest_at.map(rfc3339_ms));
                view["why"] = json!(stuck.as_ref().map(|stuck| stuck.why.name()));
                view["waitingFor"] = json!(stuck.as_ref().map(stuck::counts));
                return print_json(&view);
            }
            let waiting = match backlog.oldest_at {
                Some(oldest_at) => format!("{}, the oldest since {}", backlog.deliveries, rfc3339_ms(oldest_at)),
                None => backlog.deliveries.to_string(),
            };
            let lines = [
                ("id", endpoint.id.to_string()),
                ("account", caller.account.to_string()),
                ("application", endpoint.application.to_string()),
                ("URL", one_line(&endpoint.url)),
                ("state", state(&endpoint).to_owned()),
                ("failing since", endpoint.failing_since.map_or("-".to_owned(), rfc3339_ms)),
                ("waiting", waiting),
                ("why", stuck.as_ref().map_or("-".to_owned(), |stuck| wait_reason::of_endpoint(&stuck.why))),
                ("waiting for", stuck.as_ref().map_or("-".to_owned(), stuck::parts)),
                ("created", rfc3339_ms(endpoint.created_at)),
            ];
            for (name, value) in lines {
                print(&format!("{name:<15}{value}"));
            }
        }
        ProviderEndpoint::Enable(name) => {
            let (caller, endpoint) = resolve::endpoint(provider, name).await?;
            switch(provider, &caller, &endpoint, Switch::On).await?;
            print(&format!("Endpoint {} is enabled.", endpoint.id));
        }
        ProviderEndpoint::Disable(EndpointRemoval { endpoint, confirmation }) => {
            let (caller, endpoint) = resolve::endpoint(provider, endpoint).await?;
            let waiting =
                provider.endpoint_backlog(&endpoint).await.context("counting the waiting deliveries")?.deliveries;
            if waiting > 0 {
                let waiting = pluralise(waiting, "waiting delivery", "waiting deliveries");
                confirmation.ask(|| format!("Disable {} and drop {waiting}?", named(&endpoint)))?;
            }
            switch(provider, &caller, &endpoint, Switch::Off).await?;
            print(&format!("Endpoint {} is disabled.", endpoint.id));
        }
        ProviderEndpoint::RetryNow { endpoint, json } => {
            let (endpoint, messages) = unblock::retry_now(provider, endpoint).await?;
            if *json {
                return unblock::print_count(&endpoint, messages);
            }
            let messages = pluralise(
                messages,
                "delivery that waited for its next attempt is",
                "deliveries that waited for their next attempt are",
            );
            print(&format!("{}: {messages} due now. The endpoint's pause is ended.", endpoint.id));
        }
        ProviderEndpoint::Recover { endpoint, since, json } => {
            let (endpoint, task) = unblock::recover(provider, endpoint, *since).await?;
            if *json {
                return print_json(&json!({ "endpoint": &*endpoint.id, "task": task }));
            }
            print(&task);
            let since = rfc3339_ms(*since);
            hint(&format!("{}: a running server sends the messages again that failed since {since}.", endpoint.id));
        }
        ProviderEndpoint::Cancel { endpoint, confirmation, json } => {
            let (endpoint, messages) = unblock::cancel(provider, endpoint, confirmation).await?;
            if *json {
                return unblock::print_count(&endpoint, messages);
            }
            let messages = pluralise(messages, "waiting delivery was", "waiting deliveries were");
            print(&format!("{}: {messages} cancelled.", endpoint.id));
        }
        ProviderEndpoint::BlockedKeys { endpoint, json } => {
            let blocked = unblock::list_blocked(provider, endpoint).await?;
            if blocked.is_empty() {
                hint("No ordering key is blocked.");
            }
            for blocked in blocked {
                if *json {
                    unblock::print_blocked(&blocked)?;
                } else {
                    unblock::show_blocked(&blocked);
                }
            }
        }
        ProviderEndpoint::Skip(options) => unblock::skip(provider, options).await?,
        ProviderEndpoint::Delete(EndpointRemoval { endpoint, confirmation }) => {
            let (caller, endpoint) = resolve::endpoint(provider, endpoint).await?;
            let waiting =
                provider.endpoint_backlog(&endpoint).await.context("counting the waiting deliveries")?.deliveries;
            confirmation.ask(|| {
                let waiting = pluralise(waiting, "waiting delivery", "waiting deliveries");
                format!("Delete {} with its secret and {waiting}?", named(&endpoint))
            })?;
            let deleted = provider.delete_endpoint(&caller, &endpoint.application, &endpoint.id).await;
            deleted.context(format!("deleting endpoint {}", endpoint.id))?;
            print(&format!("Endpoint {} deleted.", endpoint.id));
        }
    }
    Ok(())
}

async fn switch(provider: &Provider, caller: &Caller, endpoint: &Endpoint, switch: Switch) -> Result<(), CommandError> {
    let switched = provider.switch_endpoint(caller, &endpoint.application, &endpoint.id, switch).await;
    switched.context(format!("changing endpoint {}", endpoint.id)).map(drop)
}

/// The endpoint's id and URL, for a confirmation.
fn named(endpoint: &Endpoint) -> String {
    format!("endpoint {} ({})", endpoint.id, one_line(&endpoint.url))
}

fn state(endpoint: &Endpoint) -> &'static str {
    match (endpoint.disabled, endpoint.failing_since) {
        (true, _) => "disabled",
        (false, Some(_)) => "failing",
        (false, None) => "enabled",
    }
}

fn view(endpoint: &Endpoint) -> Value {
    json!({
        "id": &*endpoint.id,
        "application": &*endpoint.application,
        "uid": endpoint.uid,
        "url": endpoint.url,
        "disabled": endpoint.disabled,
        "failingSince": endpoint.failing_since.map(rfc3339_ms),
        "eventTypes": endpoint.filter_types,
        "channels": endpoint.channels,
        "createdAt": rfc3339_ms(endpoint.created_at),
    })
}
