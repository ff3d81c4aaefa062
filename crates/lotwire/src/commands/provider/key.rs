//! `lotwire provider key`.

use std::time::Duration;

use kit_runtime::clock::rfc3339_ms;
use provider_core::page::ListKey;
use provider_core::{Provider, ProviderError, ids};
use serde_json::json;

use super::{all, find, one_line, or_dash, print, print_json};
use crate::cli::ProviderKey;
use crate::fault::{Fault, While as _};
use crate::node::Ground;

const DAY: Duration = Duration::from_secs(24 * 3_600);

pub(super) async fn run(provider: &Provider, ground: &Ground, command: &ProviderKey) -> Result<(), Fault> {
    match command {
        ProviderKey::Create { account, name, expires_in_days, json } => {
            let expires_at = match expires_in_days {
                Some(days) => {
                    Some(ground.clock.now().checked_add(DAY * u32::from(*days)).while_("working out the expiry")?)
                }
                None => None,
            };
            let account = &*find::account(provider, account).await?.id;
            let created = provider.create_api_key_until(account, name, expires_at);
            let key = created.await.while_(format!("creating a key of account {account}"))?;
            if *json {
                let expires_at = key.key.expires_at.map(rfc3339_ms);
                return print_json(&json!({ "id": &*key.key.id, "key": key.text, "expiresAt": expires_at }));
            }
            print(&format!("{}\n\nKeep it now: it is not shown again.", key.text));
        }
        ProviderKey::List { account, json } => {
            find::account(provider, account).await?;
            let doing = format!("listing the keys of account {account}");
            let list = async |page: &_| provider.list_api_keys(account, page).await;
            for key in all(ListKey::Id(ids::API_KEY), &doing, list).await? {
                let (created_at, expires_at) = (rfc3339_ms(key.created_at), key.expires_at.map(rfc3339_ms));
                let last_used_at = key.last_used_at.map(rfc3339_ms);
                if *json {
                    print_json(&json!({
                        "id": &*key.id, "name": key.name, "createdAt": created_at, "expiresAt": expires_at,
                        "lastUsedAt": last_used_at,
                    }))?;
                } else {
                    let (used, ends) = (or_dash(last_used_at), or_dash(expires_at));
                    print(&format!(
                        "{}  created {created_at}  used {used:<24}  ends {ends:<24}  {}",
                        key.id,
                        one_line(&key.name)
                    ));
                }
            }
        }
        ProviderKey::Revoke { account, id, confirmed } => {
            let account = &*find::account(provider, account).await?.id;
            confirmed.ask(|| format!("Take the access of key {id} of account {account} away for good?"))?;
            match provider.delete_api_key(account, id).await {
                Err(ProviderError::NotFound) => {
                    return Err(Fault::new(format!(
                        "{account} has no key {id:?}: `lotwire provider key list --account {account}` shows them"
                    )));
                }
                revoked => revoked.while_(format!("revoking key {id}"))?,
            }
            print(&format!("Key {id} no longer gives access."));
        }
    }
    Ok(())
}
