//! Runs `lotwire provider account`.

use std::io::IsTerminal as _;

use provider_core::model::{Account, PayloadCheck, UnknownEventTypes};
use provider_core::page::CursorKey;
use provider_core::{Provider, ids};
use serde_json::{Value, json};

use super::{all, hint, one_line, print, print_json, resolve};
use crate::cli::{PayloadCheckMode, ProviderAccount, ProviderAccountSet, UnknownEventTypesMode};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn run(provider: &Provider, command: &ProviderAccount) -> Result<(), CommandError> {
    match command {
        ProviderAccount::Create { name, json, sign_in_code } => create(provider, name, *json, *sign_in_code).await?,
        ProviderAccount::SignInCode { account, json } => {
            let account = resolve::account(provider, account).await?;
            let link = provider.create_sign_in_code(&account).await.context("making the sign-in code")?;
            let expires_at = kit_runtime::clock::rfc3339_ms(link.invitation.expires_at);
            if *json {
                return print_json(&json!({ "url": link.url, "expiresAt": expires_at }));
            }
            print(&link.url);
            let name = format!("{} ({})", one_line(&account.name), account.id);
            hint(&format!("Open the link to join {name} as its Admin. {WORKS_ONCE}"));
        }
        ProviderAccount::List { json } => {
            let list = async |page: &_| provider.list_accounts(page).await;
            let accounts = all(CursorKey::Id(ids::ACCOUNT), "listing the accounts", list).await?;
            if accounts.is_empty() {
                hint("There is no account yet. Create one: lotwire provider account create NAME");
            }
            for account in accounts {
                if *json {
                    print_json(&view(&account))?;
                } else {
                    print(&format!("{}  {}", account.id, one_line(&account.name)));
                }
            }
        }
        ProviderAccount::Show { account, json } => {
            let account = resolve::account(provider, account).await?;
            show(provider, &account, *json)?;
        }
        ProviderAccount::Set(options) => set(provider, options).await?,
    }
    Ok(())
}

/// What a person needs to know of a link.
const WORKS_ONCE: &str = "It works once, for 24 hours.";

async fn create(provider: &Provider, name: &str, json: bool, sign_in_code: bool) -> Result<(), CommandError> {
    let account = provider.create_account(name).await.context("creating the account")?;
    let is_wanted = sign_in_code || (!json && std::io::stderr().is_terminal());
    let link = match is_wanted {
        true => Some(provider.create_sign_in_code(&account).await.context("making the sign-in code")?),
        false => None,
    };
    if json {
        let mut view = json!({ "id": &*account.id });
        if let Some(link) = &link {
            view["signInUrl"] = json!(link.url);
        }
        return print_json(&view);
    }
    print(&account.id);
    hint(&format!("Account created. Next: lotwire provider key create --account {} --name NAME", account.id));
    if let Some(link) = link {
        hint(&format!("To sign in to its dashboard, open this link. {WORKS_ONCE}\n{}", link.url));
    }
    Ok(())
}

async fn set(provider: &Provider, options: &ProviderAccountSet) -> Result<(), CommandError> {
    let id = &options.account;
    let mut account = resolve::account(provider, id).await?;
    let settings = &mut account.settings;
    if let Some(check) = options.payload_check {
        settings.payload_check = match check {
            PayloadCheckMode::Off => PayloadCheck::Off,
            PayloadCheckMode::Warn => PayloadCheck::Warn,
            PayloadCheckMode::Reject => PayloadCheck::Reject,
        };
    }
    if let Some(handling) = options.unknown_event_types {
        settings.unknown_event_types = match handling {
            UnknownEventTypesMode::Accept => UnknownEventTypes::Accept,
            UnknownEventTypesMode::Warn => UnknownEventTypes::Warn,
            UnknownEventTypesMode::Reject => UnknownEventTypes::Reject,
        };
    }
    if let Some(text) = &options.requests_per_second {
        settings.requests_per_second_max = number("--requests-per-second", text)?;
    }
    if let Some(text) = &options.endpoints_per_application {
        settings.endpoints_max = number("--endpoints-per-application", text)?;
    }
    if let Some(name) = &options.name {
        account.name.clone_from(name);
    }
    provider.update_account(account.clone()).await.context(format!("changing account {id}"))?;
    show(provider, &account, options.json)
}

/// Parses a limit; none for `default`.
fn number(flag: &str, text: &str) -> Result<Option<u32>, CommandError> {
    if text == "default" {
        return Ok(None);
    }
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(Some(number)),
        _ => Err(CommandError::new(format!("{flag} takes a number from 1 to 1000000, or default, but it is {text:?}"))),
    }
}

fn show(provider: &Provider, account: &Account, json: bool) -> Result<(), CommandError> {
    if json {
        return print_json(&view(account));
    }
    let (settings, config) = (&account.settings, provider.config());
    let of = |own: Option<u32>, default: usize| match own {
        Some(own) => own.to_string(),
        None => format!("{default} (default)"),
    };
    let requests = of(settings.requests_per_second_max, config.requests_per_second_max as usize);
    let lines = [
        ("id", account.id.to_string()),
        ("name", one_line(&account.name)),
        ("created", kit_runtime::clock::rfc3339_ms(account.created_at)),
        ("payload check", settings.payload_check.name().to_owned()),
        ("unknown event types", settings.unknown_event_types.name().to_owned()),
        ("requests a second", requests),
        ("endpoints of an application", of(settings.endpoints_max, config.endpoints_max)),
    ];
    for (name, value) in lines {
        print(&format!("{name:<28}{value}"));
    }
    Ok(())
}

fn view(account: &Account) -> Value {
    let settings = &account.settings;
    json!({
        "id": &*account.id,
        "name": account.name,
        "createdAt": kit_runtime::clock::rfc3339_ms(account.created_at),
        "payloadCheck": settings.payload_check.name(),
        "unknownEventTypes": settings.unknown_event_types.name(),
        "requestsPerSecond": settings.requests_per_second_max,
        "endpointsPerApplication": settings.endpoints_max,
    })
}
