//! `lotwire provider`: accounts and keys of the embedded provider.

use provider::{PageRequest, Provider};
use serde_json::json;

use super::{print, print_json};
use crate::cli::{Provider as Command, ProviderAccount, ProviderKey};
use crate::config::Config;
use crate::fault::{Fault, While as _};
use crate::node::{Ground, open_provider};

/// Lists on a terminal end here; nobody reads more, and every list has a bound.
const LIST_MAX: usize = 10_000;

pub(super) async fn run(config: &Config, command: &Command) -> Result<(), Fault> {
    let provider = open_provider(config, &Ground::new(config)?).await?;
    match command {
        Command::Account(command) => run_account(&provider, command).await,
        Command::Key(command) => run_key(&provider, command).await,
    }
}

async fn run_account(provider: &Provider, command: &ProviderAccount) -> Result<(), Fault> {
    match command {
        ProviderAccount::Create { name, json } => {
            let account = provider.create_account(name).await.while_("creating the account")?;
            if *json {
                return print_json(&json!({ "id": &*account.id }));
            }
            print(&format!(
                "Account {} created.\nNext: lotwire provider key create --account {0} --name NAME",
                account.id
            ));
        }
        ProviderAccount::List { json } => {
            for account in
                provider.list_accounts(&PageRequest::first(LIST_MAX)).await.while_("listing the accounts")?.data
            {
                if *json {
                    print_json(&json!({ "id": &*account.id, "name": account.name }))?;
                } else {
                    print(&format!("{}  {}", account.id, account.name));
                }
            }
        }
    }
    Ok(())
}

async fn run_key(provider: &Provider, command: &ProviderKey) -> Result<(), Fault> {
    match command {
        ProviderKey::Create { account, name, json } => {
            let key =
                provider.create_api_key(account, name).await.while_(format!("creating a key of account {account}"))?;
            if *json {
                return print_json(&json!({ "key": key.text }));
            }
            print(&format!("{}\n\nKeep it now: it is not shown again.", key.text));
        }
        ProviderKey::List { account, json } => {
            for key in provider
                .list_api_keys(account, &PageRequest::first(LIST_MAX))
                .await
                .while_(format!("listing the keys of account {account}"))?
                .data
            {
                let created_at = runtime::clock::rfc3339_ms(key.created_at);
                if *json {
                    print_json(&json!({ "id": &*key.id, "name": key.name, "createdAt": created_at }))?;
                } else {
                    print(&format!("{}  {created_at}  {}", key.id, key.name));
                }
            }
        }
        ProviderKey::Delete { account, id } => {
            provider.delete_api_key(account, id).await.while_(format!("deleting key {id}"))?;
            print(&format!("Key {id} no longer gives access."));
        }
    }
    Ok(())
}
