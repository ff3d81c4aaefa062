//! Runs `lotwire provider key`.

use std::collections::BTreeSet;
use std::time::Duration;

use kit_runtime::clock::rfc3339_ms;
use provider_core::model::{ApiKey, KeyScope};
use provider_core::page::CursorKey;
use provider_core::{Provider, ProviderError, ids};
use serde_json::json;

use super::{all, hint, one_line, or_dash, print, print_json, resolve};
use crate::cli::ProviderKey;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::NodeServices;

const DAY: Duration = Duration::from_secs(24 * 3_600);

pub(super) async fn run(
    provider: &Provider,
    services: &NodeServices,
    command: &ProviderKey,
) -> Result<(), CommandError> {
    match command {
        ProviderKey::Create { account, name, expires_in_days, scopes, json } => {
            let expires_at = match expires_in_days {
                Some(days) => Some(
                    services.clock.now().checked_add(DAY * u32::from(*days)).context("computing the expiry time")?,
                ),
                None => None,
            };
            let account = &*resolve::account(provider, account).await?.id;
            let scopes: BTreeSet<_> = scopes.iter().filter_map(|name| KeyScope::parse(name)).collect();
            let scopes = (!scopes.is_empty()).then_some(scopes);
            let created = provider.create_api_key_with(account, name, expires_at, scopes);
            let key = created.await.context(format!("creating a key of account {account}"))?;
            if *json {
                let expires_at = key.key.expires_at.map(rfc3339_ms);
                let scopes = scope_names(&key.key);
                return print_json(
                    &json!({ "id": &*key.key.id, "key": key.text, "expiresAt": expires_at, "scopes": scopes }),
                );
            }
            print(&key.text);
            hint("Store the key now: it can't be shown again.");
        }
        ProviderKey::List { account, json } => {
            resolve::account(provider, account).await?;
            let doing = format!("listing the keys of account {account}");
            let list = async |page: &_| provider.list_api_keys(account, page).await;
            let keys = all(CursorKey::Id(ids::API_KEY), &doing, list).await?;
            if keys.is_empty() {
                hint(&format!(
                    "The account has no key yet. Create one: lotwire provider key create --account {account} --name NAME"
                ));
            }
            for key in keys {
                let (created_at, expires_at) = (rfc3339_ms(key.created_at), key.expires_at.map(rfc3339_ms));
                let last_used_at = key.last_used_at.map(rfc3339_ms);
                if *json {
                    print_json(&json!({
                        "id": &*key.id, "name": key.name, "createdAt": created_at, "expiresAt": expires_at,
                        "lastUsedAt": last_used_at, "scopes": scope_names(&key),
                    }))?;
                } else {
                    let (used, expires) = (or_dash(last_used_at), or_dash(expires_at));
                    let scopes = key.scopes.as_ref().map_or_else(|| "all".to_owned(), KeyScope::list);
                    print(&format!(
                        "{}  created {created_at}  used {used:<24}  expires {expires:<24}  scopes {scopes:<12}  {}",
                        key.id,
                        one_line(&key.name)
                    ));
                }
            }
        }
        ProviderKey::Revoke { account, id, confirmation } => {
            let account = &*resolve::account(provider, account).await?.id;
            confirmation.ask(|| format!("Revoke key {id} of account {account} permanently?"))?;
            match provider.delete_api_key(account, id).await {
                Err(ProviderError::NotFound) => {
                    return Err(CommandError::new(format!(
                        "account {account} has no key {id:?}. `lotwire provider key list --account {account}` lists \
                         its keys"
                    )));
                }
                revoked => revoked.context(format!("revoking key {id}"))?,
            }
            print(&format!("Key {id} is revoked."));
        }
    }
    Ok(())
}

/// Names of the key's scopes; none for a key that may do everything.
fn scope_names(key: &ApiKey) -> Option<Vec<&'static str>> {
    key.scopes.as_ref().map(|scopes| scopes.iter().map(|scope| scope.name()).collect())
}
