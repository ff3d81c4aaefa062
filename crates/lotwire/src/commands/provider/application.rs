//! Runs `lotwire provider application`.

use std::collections::BTreeSet;

use kit_runtime::clock::rfc3339_ms;
use provider_core::model::{Account, Application, Capability};
use provider_core::page::CursorKey;
use provider_core::{ApplicationInput, Caller, Created, IfExists, PortalAccessInput, Provider, ids};
use serde_json::{Value, json};

use super::{LIST_MAX, all, hint, one_line, or_dash, print, print_json, resolve};
use crate::cli::{PortalLink, ProviderApplication};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn run(provider: &Provider, command: &ProviderApplication) -> Result<(), CommandError> {
    match command {
        ProviderApplication::Create { name, account, uid, json } => {
            let account = resolve::account(provider, account).await?;
            create(provider, &account, name, uid.clone(), *json).await
        }
        ProviderApplication::List { account, json } => list(provider, account.as_deref(), *json).await,
        ProviderApplication::PortalLink(options) => portal_link(provider, options).await,
    }
}

async fn create(
    provider: &Provider,
    account: &Account,
    name: &str,
    uid: Option<String>,
    json: bool,
) -> Result<(), CommandError> {
    let input = ApplicationInput { name: name.to_owned(), uid, ..ApplicationInput::default() };
    let caller = Caller::operator(account);
    let created = provider.create_application(&caller, input, IfExists::Refuse, None, |_| String::new()).await;
    let (Created::New(application) | Created::Existing(application)) = created.context("creating the application")?
    else {
        return Err(CommandError::new("the provider replayed an answer although the request had no idempotency key"));
    };
    if json {
        return print_json(&json!({ "id": &*application.id }));
    }
    print(&application.id);
    hint(
        "Application created. To receive its events on this machine, run `lotwire listen --application` with this id.",
    );
    Ok(())
}

async fn list(provider: &Provider, account: Option<&str>, json: bool) -> Result<(), CommandError> {
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
            if json {
                print_json(&view(&account, &application))?;
            } else {
                let Application { id, uid, name, .. } = &application;
                print(&format!("{id}  {:<24}  {}  {}", or_dash(uid.clone()), account.id, one_line(name)));
            }
        }
    }
    if shown == 0 {
        hint("There is no application yet. Create one: lotwire provider application create NAME --account ORG");
    }
    Ok(())
}

async fn portal_link(provider: &Provider, options: &PortalLink) -> Result<(), CommandError> {
    let (account, application) =
        resolve::application(provider, options.account.as_deref(), &options.application).await?;
    let chosen = options.capabilities.iter().copied();
    let capabilities: BTreeSet<Capability> = chosen.chain([Capability::ViewBase]).collect();
    let input = PortalAccessInput {
        capabilities: Some(capabilities.clone()),
        expiry_seconds: Some(i64::from(options.expires_in_hours) * 3_600),
        ..PortalAccessInput::default()
    };
    let caller = Caller::operator(&account);
    let access = provider.create_portal_access(&caller, &application.id, input).await;
    let access = access.context(format!("creating a link to the App Portal of {}", application.id))?;
    let names: Vec<&str> = capabilities.into_iter().map(Capability::name).collect();
    let expires_at = rfc3339_ms(access.expires_at);
    if options.json {
        return print_json(&json!({ "url": access.url, "capabilities": names, "expiresAt": expires_at }));
    }
    print(&access.url);
    hint(&format!(
        "The link opens the App Portal of {} ({}) until {expires_at}. Capabilities: {}.",
        one_line(&application.name),
        application.id,
        names.join(", ")
    ));
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
