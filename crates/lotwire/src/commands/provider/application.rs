//! Runs `lotwire provider application`.

use kit_runtime::clock::rfc3339_ms;
use provider_core::model::{Account, Application};
use provider_core::page::CursorKey;
use provider_core::{Caller, Provider, ids};
use serde_json::{Value, json};

use super::{LIST_MAX, all, one_line, or_dash, print, print_json, resolve};
use crate::cli::ProviderApplication;
use crate::error::CommandError;

pub(super) async fn run(provider: &Provider, command: &ProviderApplication) -> Result<(), CommandError> {
    let ProviderApplication::List { account, json } = command;
    let accounts = match account {
        Some(account) => vec![resolve::account(provider, account).await?],
        None => {
            let list = async |page: &_| provider.list_accounts(page).await;
            all(CursorKey::Id(ids::ACCOUNT), "listing the accounts", list).await?
        }
    };
    let mut shown = 0;
    for account in accounts {
        for application in of_account(provider, &account).await? {
            if shown == LIST_MAX {
                return Ok(());
            }
            shown += 1;
            if *json {
                print_json(&view(&account, &application))?;
            } else {
                let Application { id, uid, name, .. } = &application;
                print(&format!("{id}  {:<24}  {}  {}", or_dash(uid.clone()), account.id, one_line(name)));
            }
        }
    }
    Ok(())
}

async fn of_account(provider: &Provider, account: &Account) -> Result<Vec<Application>, CommandError> {
    let caller = Caller::operator(account);
    let doing = format!("listing the applications of {}", account.id);
    let list = async |page: &_| provider.list_applications(&caller, &[], page).await;
    all(CursorKey::Id(ids::APPLICATION), &doing, list).await
}

fn view(account: &Account, application: &Application) -> Value {
    json!({
        "id": &*application.id,
        "uid": application.uid,
        "name": application.name,
        "account": &*account.id,
        "throttleRate": application.throttle_rate,
        "createdAt": rfc3339_ms(application.created_at),
    })
}
