//! Runs `lotwire key`: API keys of the platform.

use std::time::Duration;

use kit_runtime::clock::rfc3339_ms;
use platform_core::access::NewApiKey;
use platform_core::port::{ApiKey, Page};
use platform_core::{Caller, Scope, Scopes};
use serde_json::json;

use super::{hint, print, print_json, require_database};
use crate::cli::ApiKeyCommand;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};

/// Keys read from the store in one page.
const PAGE_KEYS: usize = 1_000;
const DAY: Duration = Duration::from_secs(24 * 3_600);

pub(super) async fn run(config: &Config, command: &ApiKeyCommand) -> Result<(), CommandError> {
    if !matches!(command, ApiKeyCommand::Create { .. }) {
        require_database(config, "platform.db")?;
    }
    let services = NodeServices::new(config)?;
    let platform = open_platform(config, &services).await?;
    let operator = Caller::command_line();
    match command {
        ApiKeyCommand::Create { name, customer, scopes, expires_in_days, json } => {
            let expires_at = match expires_in_days {
                Some(days) => Some(
                    services.clock.now().checked_add(DAY * u32::from(*days)).context("computing the expiry time")?,
                ),
                None => None,
            };
            let new = NewApiKey { name: name.clone(), customer: *customer, scopes: parse_scopes(scopes)?, expires_at };
            let created = platform.create_api_key(&operator, &new).await.context("creating the key")?;
            let key = created.key.expose_str().unwrap_or_default();
            if *json {
                return print_json(&json!({ "uuid": created.record.uuid, "key": key }));
            }
            print(key);
            hint("Store the key now: it can't be shown again.");
        }
        ApiKeyCommand::List { customer, json } => {
            let mut page = Page { after: None, limit: PAGE_KEYS };
            loop {
                let keys = platform.api_keys(&operator, *customer, page).await.context("listing the keys")?;
                if keys.is_empty() && page.after.is_none() {
                    hint("There is no key yet. Create one: lotwire key create --name NAME --scope SCOPE");
                }
                keys.iter().try_for_each(|key| show_key(key, *json))?;
                match keys.last() {
                    Some(last) if keys.len() == PAGE_KEYS => page.after = Some(last.uuid),
                    _ => break,
                }
            }
        }
        ApiKeyCommand::Revoke { uuid, confirmation } => {
            confirmation.ask(|| format!("Revoke key {uuid} permanently?"))?;
            platform.revoke_api_key(&operator, *uuid).await.context(format!("revoking key {uuid}"))?;
            print(&format!("Key {uuid} is revoked."));
        }
    }
    Ok(())
}

fn show_key(key: &ApiKey, json: bool) -> Result<(), CommandError> {
    let (created_at, expires_at) = (rfc3339_ms(key.created_at), key.expires_at.map(rfc3339_ms));
    let (last_used_at, revoked_at) = (key.last_used_at.map(rfc3339_ms), key.revoked_at.map(rfc3339_ms));
    if json {
        return print_json(&json!({
            "uuid": key.uuid, "name": key.name, "customer": key.customer, "scopes": key.scopes, "createdAt": created_at,
            "expiresAt": expires_at, "lastUsedAt": last_used_at, "revokedAt": revoked_at,
        }));
    }
    let end = match (revoked_at, expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) => format!("expires {at}"),
        (None, None) => "expires -".to_owned(),
    };
    let (used, owner) = (last_used_at.unwrap_or_else(|| "-".to_owned()), key.customer.map(|uuid| uuid.to_string()));
    print(&format!(
        "{}  created {created_at}  used {used:<24}  {end:<32}  {:<36}  {}  {}",
        key.uuid,
        owner.as_deref().unwrap_or("staff"),
        key.name,
        key.scopes.join(",")
    ));
    Ok(())
}

fn parse_scopes(names: &[String]) -> Result<Scopes, CommandError> {
    if names.iter().any(|name| name == "all") {
        return Ok(Scopes::all());
    }
    let scope = |name: &String| {
        let known = || Scope::ALL.map(Scope::name).join(", ");
        Scope::parse(name)
            .ok_or_else(|| CommandError::new(format!("unknown scope {name:?}. The scopes are all, {}", known())))
    };
    names.iter().map(scope).collect()
}
